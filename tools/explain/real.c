/* SPDX-License-Identifier: MIT */
/* Finds the functions that the shared object stands in front of. */
#include <dlfcn.h>

#include "explain.h"

static void *in_library(const char *library, const char *name)
{
	/* A library that was opened with RTLD_LOCAL is not found by RTLD_NEXT. */
	void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);

	if (!handle)
		handle = dlopen(library, RTLD_LAZY);
	return handle ? dlsym(handle, name) : NULL;
}

_Atomic unsigned int explain_copies = 1;

void explain_count_copies(void)
{
}

void *explain_real_verb(const char *name, const void *caller)
{
	(void)caller;
	explain_join();
	return in_library("libibverbs.so.1", name);
}

void *explain_real_cm(const char *name, const void *caller)
{
	(void)caller;
	return in_library("librdmacm.so.1", name);
}
