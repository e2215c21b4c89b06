/* SPDX-License-Identifier: MIT */
/* After the kernel's own configuration: a tool of the kernel's build would turn these branches into what they mean. */
#undef CONFIG_HAVE_JUMP_LABEL_HACK
#undef CONFIG_JUMP_LABEL_HACK
