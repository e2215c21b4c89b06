/* SPDX-License-Identifier: MIT */
/*
 * Texts stay in their buffers, of every size, also 0 with a NULL pointer. All texts of rdmaez are made of
 * rdmaez_impl_put(), which PUT proves for every state of a text and everything that vsnprintf() may return. GID does it
 * for a whole function and any GID, of which no part is longer than 63 characters. JSON is about what is read: nothing
 * outside any string of up to 6 bytes that a NUL or its length ends.
 *
 * parts: PUT GID JSON
 * machines: 64 32
 * unwind: 10
 * defect: PUT "inside the buffer" impl/text.h s/room ? text->size - text->length : 0/text->size - text->length/
 * defect: PUT "never shorter" impl/text.h s/if (more > 0)/if (more)/
 * defect: GID "inside the buffer" impl/text.h s/room ? text->size - text->length : 0/text->size/
 * defect: JSON "dereference failure" explain/diag.h s/while (end < most \&\& bytes\[end\])/while (bytes[end])/
 */
#include "prove.h"
#include <rdmaez/diag.h>
#include <rdmaez/gid.h>
#include <stdarg.h>
#include <stdlib.h>
#ifdef JSON
#include <rdmaez/implementation.h>
#endif

int vsnprintf(char *to, size_t size, const char *format, va_list arguments)
{
	const int made = nondet_int();

	(void)format;
	(void)arguments;
	PROVE(size == 0 || __CPROVER_w_ok(to, size), "inside the buffer");
#ifdef GID
	ASSUME(made < 64);
#endif
	return made;
}

int main(void)
{
	const size_t size = nondet_size();
	char *const buf = size || nondet_bool() ? malloc(size) : NULL;
	int length = 0;

	/* CBMC keeps the upper bits of a pointer for itself. */
	ASSUME(size < UINTPTR_MAX >> 12 && (buf || !size));
#if defined(PUT)
	struct rdmaez_impl_text text = rdmaez_impl_text_in(buf, size);
	const size_t before = text.length = nondet_size();

	PROVE(!size || buf[0] == 0, "empty at first");
	ASSUME(before <= SIZE_MAX - INT32_MAX);
	rdmaez_impl_put(&text, "%s", "");
	PROVE(text.buf == buf && text.size == size, "the same buffer");
	PROVE(text.length >= before, "never shorter");
	GOAL(size > 100 && before > size && text.length > before);
	GOAL(size > 100 && before < size && text.length > size);
	GOAL(!buf);
#elif defined(GID)
	union ibv_gid gid;

	length = rdmaez_gid_format(&gid, buf, size);
	GOAL(length > 0 && size > 100 && gid.raw[0] == 0xfe);
	GOAL(length > 0 && !buf);
#else
	const size_t most = nondet_size(), count = nondet_size();
	char *const string = malloc(count);

	ASSUME(string && count > 0 && count <= 6 && (most <= count || string[count - 1] == 0));
	length = rdmaez_impl_json_string(string, most, NULL, 0);
	GOAL(length > 0 && most == 6 && count == 6 && (string[5] & 0x80));
	GOAL(length > 0 && most > count);
#endif
	(void)length;
	return 0;
}
