#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A tree for rdmaez-doctor --root that others have made: where its links lead, by the kernel's openat2() and by the
# doctor's own steps. What it does with any bytes in the tree's files is in tests/fuzz/tree.t.

source tests/tap.bash
# shellcheck source=tests/tools/doctor.bash
source tests/tools/doctor.bash

# without NAME: $scratch/NAME.so, preloaded, refuses openat2() by this errno value, as kernels before Linux 5.6 and
# filters of system calls do.
without() {
	"${CC:-gcc}" -shared -fPIC -DREFUSED="$1" -o "$scratch/$1.so" -x c - -ldl <<-'END'
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <errno.h>
		#include <stdarg.h>
		long syscall(long number, ...)
		{
			long (*const next)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
			long word[6];
			va_list args;
			if (number == 437) {
				errno = REFUSED;
				return -1;
			}
			va_start(args, number);
			for (int i = 0; i < 6; i++)
				word[i] = va_arg(args, long);
			va_end(args);
			return next(number, word[0], word[1], word[2], word[3], word[4], word[5]);
		}
	END
}

# where NAME COMMAND...: it is refused.
where() {
	LD_PRELOAD=$scratch/$1.so "${@:2}"
}

# stays_inside: links lead to a secret outside of the tree, in each way that the doctor reads; and those that lead within
# it, absolute ones too, are followed.
stays_inside() {
	local port=sys/class/infiniband/mlx5_0/ports/1
	machine
	mkdir -p "$scratch/outside/secret-folder" "$tree/kept"
	echo secret-line >"$scratch/outside/secret-file"
	put kept/rate '200 Gb/sec (4X HDR)'
	ln -sf "$scratch/outside/secret-file" "$tree/$port/phys_state"
	ln -sf "../../../../../../../../../../../../../..$scratch/outside/secret-file" "$tree/sys/class/infiniband/mlx5_0/fw_ver"
	rm -r "$tree/etc/libibverbs.d" "$tree/sys/module"
	ln -s "$scratch/outside" "$tree/etc/libibverbs.d"
	ln -s "$scratch/outside" "$tree/sys/module"
	ln -s "$scratch/outside/secret-folder" "$tree/sys/bus/pci/devices/secret"
	ln -sf /kept/rate "$tree/$port/rate"
	ln -sf ../../../kept/../../../../../sys/module "$tree/usr/circle"
	ln -sf loop "$tree/proc/loop"
	ln -sf loop "$tree/proc/meminfo"
	report >/dev/null || :
	grep -q '200 Gb/sec' "$scratch/report" || { cat "$scratch/report"; return 1; }
	! grep secret "$scratch/report"
}

# device NAME TARGET [DRIVER]: TARGET is the link in the place of the firmware's version, DRIVER the one of the driver.
device() {
	put "sys/class/infiniband/$1/node_type" '1: CA'
	mkdir -p "$tree/sys/class/infiniband/$1/device"
	ln -s "${3:-/drivers/$1}" "$tree/sys/class/infiniband/$1/device/driver"
	ln -s "$2" "$tree/sys/class/infiniband/$1/fw_ver"
}

# chain COUNT NAME: so many links lead to the file.
chain() {
	local i
	ln -s version "$tree/kept/$2.1"
	for ((i = 2; i <= $1; i++)); do
		ln -s "$2.$((i - 1))" "$tree/kept/$2.$i"
	done
}

# Where each way leads. The kernel follows 40 links, those of folders among them, and none that is the last of a path
# which is read as a link: its target may be missing.
leads() {
	local up
	fresh
	put kept/version 7.1
	put kept/deep/er/version 7.2
	up=$(printf '../%.0s' {1..50})
	device absolute /kept/version
	device absent /kept/none/../version
	device above "${up}kept/version" "${up}drivers/x"
	device chain40 /kept/c.39
	device chain41 /kept/d.40
	device dots ./.././../..//../kept/./deep/../version ..
	device file /kept/version/behind
	device filedot /kept/version/.
	device fileup /kept/version/../version
	device folder /kept/folder/er/version
	device hidden /kept/folder/er/../../version
	device loop /kept/loop
	device none /kept/none
	device root / /
	device slash /kept/version/
	device through ../../../../kept/through/version
	chain 39 c
	chain 40 d
	ln -s loop "$tree/kept/loop"
	ln -s deep "$tree/kept/folder"
	ln -s deep/er "$tree/kept/through"
	ln -s ../../kept/deep "$tree/sys/class/infiniband/linked"
	says device 0 <<-'END'
		ok   device above: driver x, firmware 7.1 (CA)
		ok   device absent: driver absent (CA)
		ok   device absolute: driver absolute, firmware 7.1 (CA)
		ok   device chain40: driver chain40, firmware 7.1 (CA)
		ok   device chain41: driver chain41 (CA)
		ok   device dots: driver .., firmware 7.1 (CA)
		ok   device file: driver file (CA)
		ok   device filedot: driver filedot (CA)
		ok   device fileup: driver fileup (CA)
		ok   device folder: driver folder, firmware 7.2 (CA)
		ok   device hidden: driver hidden, firmware 7.1 (CA)
		ok   device linked: software device (device)
		ok   device loop: driver loop (CA)
		ok   device none: driver none (CA)
		ok   device root: driver  (CA)
		ok   device slash: driver slash (CA)
		ok   device through: driver through, firmware 7.2 (CA)
	END
}

# Paths that end where the tree begins, and folders that are links, are listed as well.
lists_links() {
	fresh
	mkdir -p "$tree/sys/class" "$tree/kept/mlx5_4"
	ln -s /kept "$tree/sys/class/infiniband"
	says device 0 <<<'ok   device mlx5_4: software device (device)'
	rm "$tree/sys/class/infiniband"
	ln -s / "$tree/sys/class/infiniband"
	says device 0 <<-'END'
		ok   device kept: software device (device)
		ok   device sys: software device (device)
	END
}

# What has no room is not read. Only the steps know such a limit of where links lead.
too_long() {
	local long half
	fresh
	long=$(printf 'a%.0s' {1..200})
	half=$(printf "$long/%.0s" {1..15})
	mkdir -p "$tree/x/$half"
	(cd "$tree/x/$half" && mkdir -p "$half" && echo 7.3 >"$half/version" && ln -s "${half}version" down)
	device deep "/x/${half}down"
	put kept/wide/fw_ver 7.4
	mkdir "$tree/kept/wide/device"
	ln -s /drivers/wide "$tree/kept/wide/device/driver"
	ln -s "$(printf './%.0s' {1..2036})../../../kept/wide" "$tree/sys/class/infiniband/wide"
	says device 0 <<-'END'
		ok   device deep: driver deep, firmware 7.3 (CA)
		ok   device wide: driver wide, firmware 7.4 (device)
	END
	where ENOSYS says device 0 <<-'END'
		ok   device deep: driver deep (CA)
		ok   device wide: software device (device)
	END
}

without ENOSYS
without EPERM
without EACCES
ok 'links do not lead out of the tree' stays_inside
ok 'nor on a kernel before Linux 5.6' where ENOSYS stays_inside
ok 'nor under a filter of system calls' where EPERM stays_inside
ok 'where they lead' leads
ok 'to the same without openat2()' where ENOSYS leads
ok 'what is a link is listed' lists_links
ok 'and without openat2()' where ENOSYS lists_links
ok 'what is longer than there is room for' too_long
fails 'an open that is refused otherwise is seen' 'without /sys' where EACCES leads
done_testing
