/* SPDX-License-Identifier: MIT */
/**
 * @file version.h
 * @brief Which rdmaez this is.
 *
 * The version is defined only here; the Makefile and `rdmaez.pc` read these numbers.
 */
#ifndef RDMAEZ_VERSION_H
#define RDMAEZ_VERSION_H

/** @brief Raised when a program that compiled before may need a change. */
#define RDMAEZ_VERSION_MAJOR 0
/** @brief Raised when something is added. */
#define RDMAEZ_VERSION_MINOR 1
/** @brief Raised when something is fixed. */
#define RDMAEZ_VERSION_PATCH 0

#define RDMAEZ_IMPL_QUOTE(x) #x
#define RDMAEZ_IMPL_DOTTED(a, b, c) \
	RDMAEZ_IMPL_QUOTE(a) "." RDMAEZ_IMPL_QUOTE(b) "." RDMAEZ_IMPL_QUOTE(c)

/** @brief The version as text, "major.minor.patch". */
#define RDMAEZ_VERSION_STRING \
	RDMAEZ_IMPL_DOTTED(RDMAEZ_VERSION_MAJOR, RDMAEZ_VERSION_MINOR, RDMAEZ_VERSION_PATCH)

/**
 * @brief Tells the preprocessor whether this rdmaez is `major.minor.patch` or newer.
 *
 * `#if RDMAEZ_VERSION_AT_LEAST(0, 1, 0)` is true here and in every later version.
 */
#define RDMAEZ_VERSION_AT_LEAST(major, minor, patch) \
	(RDMAEZ_VERSION_MAJOR > (major) ||           \
	 (RDMAEZ_VERSION_MAJOR == (major) &&         \
	  (RDMAEZ_VERSION_MINOR > (minor) ||         \
	   (RDMAEZ_VERSION_MINOR == (minor) && RDMAEZ_VERSION_PATCH >= (patch)))))

#endif
