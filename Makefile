# SPDX-License-Identifier: MIT
#
# rdmaez has nothing to build: it is headers. This file runs the demonstration and the tests, and
# installs. What a target needs is installed by tools/deps, which is silent where all is there.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.SECONDARY:

CC := gcc
CXX := g++
CLANG ?= clang
CLANGXX ?= clang++
JOBS ?= $(shell nproc)
VERSION := $(shell sed -n 's/^\#define RDMAEZ_VERSION_[MP].* //p' include/rdmaez/version.h | paste -sd.)
export VERSION CC CXX CLANG CLANGXX

# The warnings stand in one file, which the compile tests use as well.
CFLAGS := -std=c11 -O2 -g -Iinclude @tests/compile/warnings -Wc++-compat -MMD -MP
# Tests take longer to compile than to run, so nothing is optimised; the sanitizers need lines and no variables.
SANITIZE := -O0 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
# Runs each test program under a time limit; a test that cannot run here counts as failed. Many wait for most of their
# time, so there is one more at a time than processors.
PROVE := RDMAEZ_TEST_TIMES=build/times HARNESS_RULESFILE=tests/prove.yml prove --jobs $$(($(JOBS) + 1)) --timer --failures --comments --exec tests/run \
	$(if $(V),--verbose)

HEADERS := $(shell cd include && find rdmaez.h rdmaez -name '*.h' | sort)
# All but the mesh, which needs Open MPI, and that in C++.
EXAMPLES := $(patsubst examples/%.c,build/examples/%,$(filter-out %/mesh.c,$(wildcard examples/*.c)))
FAKE := $(patsubst tests/fake/%.c,%.o,$(wildcard tests/fake/*.c))
UNIT := $(patsubst tests/unit/%.c,%,$(wildcard tests/unit/*.c))
ARCHITECTURES := s390x i686 aarch64 armhf riscv64 ppc64le musl
EMULATED := $(foreach name,$(ARCHITECTURES),$(UNIT:%=build/architectures/$(name)/unit/%))
COVERED := $(UNIT:%=build/coverage/unit/%)
CLANG_UNIT := $(UNIT:%=build/unit/clang/%)
UNIT := $(UNIT:%=build/unit/gcc/%)
DEVICE := $(patsubst tests/device/%.c,build/device/%,$(wildcard tests/device/*.c))
# Both ways of including are tested: unit tests by gcc and device tests take all bodies from one object; clang, in make
# check-nightly, compiles the core in each unit test. A test that names internals or puts a function of its own in the
# place of the C library's has its own bodies everywhere.
WITH_BODIES := $(patsubst tests/%.c,%,$(shell grep -lE 'rdmaez_impl_|define [a-z]+ test_' tests/unit/*.c tests/device/*.c))
EXTERN := $(filter-out $(WITH_BODIES:%=build/objects/gcc/%.o),$(patsubst tests/%.c,build/objects/gcc/%.o,$(wildcard tests/unit/*.c))) \
	$(filter-out $(WITH_BODIES:%=build/%),$(DEVICE)) build/objects/gcc/implementation.o
SIW := $(patsubst tests/siw/%.c,build/siw/%,$(wildcard tests/siw/*.c))
# What builds for each of $(ARCHITECTURES), and for this machine.
CC_host := $(CC)
CC_s390x := s390x-linux-gnu-gcc
CC_i686 := i686-linux-gnu-gcc
CC_aarch64 := aarch64-linux-gnu-gcc
CC_armhf := arm-linux-gnueabihf-gcc
CC_riscv64 := riscv64-linux-gnu-gcc
CC_ppc64le := powerpc64le-linux-gnu-gcc
CC_musl := musl-gcc
DATA := $(addsuffix .json,attributes completions fields names reasons transitions caps.schema) \
	$(notdir $(wildcard docs/schema/*))
C_FILES = $(shell find docs include examples tests tools -name '*.[ch]')

.PHONY: help
help: ## print this list
	@sed -n ':join /\\$$/{N; s/\\\n//; b join}; s/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 22

# --- For users ----------------------------------------------------------------------------------

.PHONY: demo mesh examples tools explain bench docs install install-headers install-tools uninstall single dist deb clean
# All that it needs is asked for before anything is compiled, and once.
demo: ## bring up queue pairs and send real RDMA traffic, without RDMA hardware
	@tools/deps build guest
	@$(MAKE) --no-print-directory -j$(JOBS) examples
	@tools/softroce examples/demo

# Open MPI keeps to TCP, and leaves the RDMA device to the example.
mesh: build/examples/mesh | deps-guest ## connect each of eight MPI ranks to each other, without RDMA hardware
	tools/softroce mpirun --allow-run-as-root --oversubscribe --mca pml ob1 --mca btl self,tcp \
		--mca btl_tcp_if_include lo -n 8 $<

tools: explain build/tools/rdmaez-doctor ## build rdmaez-explain and rdmaez-doctor into build/tools
	@:

explain: build/tools/rdmaez-explain build/tools/rdmaez-explain.so ## build what explains the verbs of any program
	@:

examples: $(EXAMPLES) ## build the examples into build/examples
	@:

bench: | deps-build deps-bench ## measure what the helpers cost
	tests/bench/run

docs: build/docs/input/enumerators.dox build/docs/input/examples.dox build/docs/diagrams/RC.svg \
		$(DATA:%=build/docs/html/data/%) | deps-docs ## build the documentation into build/docs: a web site in html, man pages in man
	@rm -rf $(filter-out build/docs/html/data,$(wildcard build/docs/html/*)) build/docs/xml build/docs/man
	RDMAEZ_VERSION=$(VERSION) RDMAEZ_PAGES="$(wildcard *.md)" doxygen docs/Doxyfile
	python3 -B docs/site/man.py build/docs/xml build/docs/man $(VERSION)
	python3 -B docs/site/finish.py build/docs/html
	python3 -B docs/site/search_data.py build/docs/html >build/docs/html/search-data.js
	@echo "Open $(CURDIR)/build/docs/html/index.html in a browser."

# tools/package/install knows the directories: PREFIX, DESTDIR, includedir, docdir and so on.
install: build/docs/html/index.html ## install headers, man pages, documentation and examples below PREFIX (/usr/local)
	tools/package/install copy

install-headers: ## install the headers alone, with what pkg-config and CMake need; builds nothing
	tools/package/install copy --headers

install-tools: tools ## install rdmaez-explain and rdmaez-doctor, with their man pages, below PREFIX
	tools/package/install copy --tools

uninstall: ## remove exactly what was installed
	tools/package/install remove

single: build/single/rdmaez.h ## put all headers into one, build/single/rdmaez.h

build/single/rdmaez.h: tools/package/single LICENSE $(HEADERS:%=include/%) | deps-dist
	tools/package/single $(@D)

dist: build/docs/html/index.html build/single/rdmaez.h | deps-dist ## pack a release, build/rdmaez-VERSION.tar.xz
	tools/package/dist

deb: | deps-build deps-docs deps-deb ## build Debian packages into build/deb, unsigned: headers, documentation, tools
	tools/package/deb build/deb

clean: ## remove what was built
	rm -rf build

# --- For developers -----------------------------------------------------------------------------

STEPS := tree unit fuzz compile tools kernel device
TESTS_unit := $(UNIT) $(wildcard tests/unit/*.t)
TESTS_device := $(wildcard tests/device/*.t)
TESTS_architectures = $(EMULATED) $(wildcard tests/architectures/*.t)
TESTS_site := $(wildcard tests/site/*.t)
TESTS_siw := $(wildcard tests/siw/*.t) $(SIW) $(wildcard tests/kernel-source/*.t tests/provider/*.t)
# Groups of tools/deps beyond build and test.
DEPS_tree := docs
DEPS_tools := guest bench
DEPS_kernel := guest
DEPS_device := guest mpi perftest
DEPS_architectures := architectures
DEPS_coverage := coverage
DEPS_programs := guest mpi perftest programs
DEPS_site := docs site
DEPS_siw := guest siw
DEPS_package := deb dist docs package
NEEDS_tree := $(DATA:%=build/docs/html/data/%) build/docs/outputs build/docs/input/enumerators.dox
NEEDS_unit := $(UNIT) build/unit/threads/threads
NEEDS_clang := $(CLANG_UNIT)
NEEDS_tools = tools $(EXPLAINED) build/threads/rdmaez-explain build/threads/programs/hazards
NEEDS_device = $(EXAMPLES) build/examples/mesh build/examples/raii $(DEVICE) tools $(EXPLAINED) build/threads/rdmaez-explain \
	$(patsubst tests/%.c,build/%,$(wildcard tests/device/explained/*.c))
NEEDS_architectures = $(EMULATED) $(patsubst %,build/architectures/%/architectures/messages,host $(ARCHITECTURES))
NEEDS_coverage := build/coverage/objects/coverage/headers.o $(COVERED)
NEEDS_site := docs
NEEDS_programs := explain build/programs/mpi_ring build/programs/loader
NEEDS_siw := $(SIW) $(EXAMPLES) build/examples/raii tools build/device/explained/cm_waits
NEEDS_package := build/docs/html/index.html build/single/rdmaez.h tools
# Files that make check leaves to its steps alone and to make check-nightly: they say so, with the reason, in their heads.
LATER := $(shell grep -l '^\# Nightly: ' tests/*/*.t)
# What takes longest begins first, or one processor waits for the other at the end.
LONG := tests/device/explain_waiting.t tests/device/doctor_process.t tests/device/readme.t
# $(call tests_of,STEPS): a step without tests has gone missing, and must not pass for want of them.
tests_of = $(foreach step,$(1),$(or $(TESTS_$(step)),$(wildcard tests/$(step)/*.t),$(error $(step) has no tests)))
tell = sed -n 's|^check-\($(1)\):.*\#\# |tests/\1: |p' Makefile
# Everything is asked for at once, before the first file is built.
install_first = @tools/deps build test $(sort $(foreach step,$(1),$(DEPS_$(step))))
build_first = @$(MAKE) --no-print-directory -j$(JOBS) needs NEEDS="$(foreach step,$(1),$(NEEDS_$(step)))"

# By one name, so that make passes over what is there already without a line for each.
.PHONY: needs
needs: $(NEEDS)
	@:

.PHONY: check format pages pages-device pages-programs check-coverage check-programs check-site check-siw check-package distcheck check-kernels check-nightly check-architectures check-hardware $(STEPS:%=check-%)
check: ## run the tests; V=1 shows each one by name
	$(call install_first,$(STEPS))
	$(call build_first,$(STEPS))
	@$(call tell,$(subst $() ,\|,$(STEPS)))
	@rm -f build/times
	@$(PROVE) $(LONG) $(filter-out $(LONG) $(LATER),$(call tests_of,$(STEPS)))
	@echo "$(words $(LATER)) files more, and parts of $(words $(NIGHTLY)), in make check-nightly."

.PHONY: slowest
slowest: ## the twenty tests that took most processor time since make check was started last
	@awk '{ cpu += $$1 } END { printf "%d tests took %d s of processor time, and those that took most:\n", NR, cpu }' build/times
	@sort -rn build/times | head -n 20 | awk '{ printf "%5d s  %s\n", $$1, $$4 }'

check-tree: ## format, scripts, documentation
check-unit: ## the headers against a fake libibverbs, under sanitizers
check-fuzz: ## the explanations of random requests, on a device that answers at random
check-compile: ## the headers by every compiler, standard and rdma-core
check-tools: ## the Soft-RoCE machine itself
check-kernel: ## the rules against a running kernel's
check-device: ## real queue pairs on the Soft-RoCE machine
check-site: ## every page of the documentation in a browser: layout, search, diagrams
check-siw: ## a second driver, software iWARP; drivers' source, downloaded once; providers without their adapters
check-package: ## installation, and programs that use it by pkg-config, CMake, Meson or as a copy; Debian packages
check-programs: ## rdmaez-explain in front of perftest, UCX, libfabric, Open MPI and others, used rightly and wrongly
check-coverage: ## what of the headers the unit tests reach, by clang 19: functions, lines, branches, conditions
check-architectures: export ARCHITECTURES := $(ARCHITECTURES)
check-architectures: ## the unit tests on other architectures by QEMU, big endian and 32 bits among them; ARCHITECTURES="s390x"
check-coverage check-programs check-site check-siw check-package check-architectures $(STEPS:%=check-%): check-%:
	$(call install_first,$*)
	$(if $(NEEDS_$*),$(call build_first,$*))
	@$(call tell,$*)
	@$(PROVE) $(call tests_of,$*)

# As the user who runs it, on the devices that are there: DEVICES="mlx5_0" names some, PEER=HOST a second host.
check-hardware: build/tools/rdmaez-doctor ## what rdmaez and your adapters do together, and a file of it to send; DEVICES="mlx5_0" PEER=HOST
	@tests/hardware/run build/hardware $(if $(PEER),--peer $(PEER)) $(DEVICES)

distcheck: ## what make dist packs; a part of check-package
	$(call install_first,package)
	$(call build_first,package)
	@$(PROVE) tests/package/dist.t

# The tests that say what of them is left for it.
NIGHTLY := $(shell grep -lE '^[^\#]*(\bnightly|NIGHTLY)' tests/{compile,device,fuzz,siw,tools,tree}/*.t | grep -v runner.t)
check-nightly: ## what takes longest, and of which make check has a sample: all pairs of compilers, a million random inputs
	$(call install_first,tree unit compile fuzz tools device siw)
	$(call build_first,tree clang tools device siw)
	@RDMAEZ_NIGHTLY=1 $(PROVE) $(CLANG_UNIT) $(sort $(LATER) $(or $(NIGHTLY),$(error nothing is nightly)))

KERNELS := bookworm trixie sid
MUTANTS := --base HEAD^
.PHONY: check-mutants mutants mutants-tools
check-mutants: | deps-build deps-test ## whether unit tests notice changed code, in headers that differ from the last commit's parent; MUTANTS="--help"
	tests/mutants/run $(MUTANTS)
mutants: | deps-build deps-test ## the same for all headers, which takes hours; goes on where it was stopped; MINUTES=30
	nice -n 15 tests/mutants/run --all $(MINUTES:%=--minutes %)
mutants-tools: ## the same for rdmaez-explain and rdmaez-doctor, with their tests on devices; MINUTES=300
	$(call install_first,tools device)
	$(call build_first,tools device)
	nice -n 15 tests/mutants/run --tools $(MINUTES:%=--minutes %)

.PHONY: prove
prove: | deps-build deps-prove ## prove by CBMC what holds for all inputs: ranges, times, rules, what peers send; PROOFS="--help"
	nice -n 15 tests/prove/run $(PROOFS)

.PHONY: fuzz
fuzz: | deps-build deps-test ## fuzz what takes bytes from outside, ten minutes each, guided by coverage; FUZZ="--help"
	tests/fuzz/run $(FUZZ)

check-kernels: ## the steps kernel, device and siw on Linux 6.1, 6.12 and the newest
	$(call install_first,kernel device siw)
	$(call build_first,device siw)
	@failed=0; for kernel in $(KERNELS); do echo "$$kernel:"; \
		RDMAEZ_KERNEL=$$kernel $(PROVE) $(call tests_of,kernel device siw) || failed=1; done; exit $$failed

format: | deps-test ## lay out every C file by .clang-format
	"$${CLANG_FORMAT:-$$(command -v clang-format-19 || echo clang-format)}" -i $(C_FILES)

# What pages show of tables, of outputs and of examples is committed, so that a forge shows it too.
PAGES = README.md $(wildcard docs/*.md)
pages: build/docs/data build/docs/outputs ## write the tables, outputs and examples that the pages show
	docs/site/regions.py $(PAGES)
	docs/site/pictures.py
pages-device: $(EXAMPLES) | deps-guest ## the same for what only a device prints
	docs/site/regions.py --device $(PAGES)
	docs/site/pictures.py --device
pages-programs: ## the same for what make check-programs has recorded
	docs/site/regions.py --programs $(PAGES)

# --- What is built ------------------------------------------------------------------------------

deps-%: # a group of tools/deps
	@tools/deps $*

# $(call compile,ARGUMENTS): shows no more than what is made from what, unless V=1.
compile = $(if $(V),,@echo "$(CC) $@"; )mkdir -p $(@D); $(CC) $(CFLAGS) $< -o $@ $(1)

build/examples/%: examples/%.c | deps-build
	$(call compile,-libverbs $(LIBS))
build/examples/caps: LIBS := -ljson-c
build/examples/cm build/examples/loop: LIBS := -lrdmacm
build/examples/threads: LIBS := -pthread
build/examples/mesh: CC := OMPI_CC=$(CC) mpicc
build/examples/mesh: | deps-mpi
build/examples/raii: examples/raii.cc | deps-build deps-cxx
	$(if $(V),,@echo "$(CXX) $@"; )mkdir -p $(@D); \
	$(CXX) -std=c++11 -O2 -g -Iinclude @tests/compile/warnings -Wold-style-cast -MMD -MP $< -o $@ -libverbs
build/device/%: tests/device/%.c build/objects/gcc/implementation.o | deps-build
	$(call compile,$(filter %.o,$^) $(SANITIZE) -Itests -Itests/device -libverbs)
build/device/connect_many: tests/device/connect_many.c | deps-build
	$(call compile,-Itests -libverbs)
# AddressSanitizer does not live with a limit of address space.
build/device/limits: tests/device/limits.c | deps-build
	$(call compile,tests/implementation.c -Itests -Itests/device -libverbs)
# AddressSanitizer wants to be the first library, and so does rdmaez-explain; ThreadSanitizer does not mind.
build/device/explained/threads: CFLAGS += -fsanitize=thread
build/device/explained/%: tests/device/explained/%.c | deps-build
	$(call compile,-libverbs -lrdmacm -pthread)
build/siw/%: tests/siw/%.c build/objects/gcc/explanations.o | deps-build deps-siw
	$(call compile,$(filter %.o,$^) $(SANITIZE) -Itests -Itests/device -libverbs -lrdmacm)

# The headers' bodies are compiled once, for both tools; the shared object is all of its directory but the launcher.
COMPARE := state compare compare_page compare_read compare_wait
LAUNCHER := main summary wants judge record core $(COMPARE)
LAUNCHER_ONLY := $(filter-out state,$(LAUNCHER))
build/tools/%: CFLAGS := $(filter-out -Wc++-compat,$(CFLAGS)) -Wno-gnu-statement-expression -D_GNU_SOURCE $(TOOLS_CFLAGS)
build/tools/%.o: tools/%.c | deps-build
	$(call compile,-DRDMAEZ_EXTERN -fPIC -fvisibility=hidden -c)
tool_objects = build/tools/headers.o $(patsubst %.c,build/%.o,$(wildcard tools/$(1)/*.c))
# It asks by netlink as the doctor does.
build/tools/rdmaez-explain.so: build/tools/doctor/nldev.o
build/tools/rdmaez-explain.so: $(filter-out $(LAUNCHER_ONLY:%=build/tools/explain/%.o),$(call tool_objects,explain)) tools/explain/explain.map
	$(call link_tool,-shared -Wl$(comma)-z$(comma)defs$(comma)-z$(comma)now$(comma)-Bsymbolic -Wl$(comma)--version-script=tools/explain/explain.map)
build/tools/rdmaez-explain: $(LAUNCHER:%=build/tools/explain/%.o)
	$(call link_tool,-ldl)
# It loads libibverbs, if there is one.
build/tools/rdmaez-doctor: $(call tool_objects,doctor)
	$(call link_tool,-ldl)
comma := ,
link_tool = $(if $(V),,@echo "$(CC) $@"; )$(CC) $(TOOLS_CFLAGS) $(filter %.o,$^) -o $@ $(LDFLAGS) $(1)

# Programs that know nothing of rdmaez.
build/programs/%: tests/programs/%.c | deps-build
	$(call compile)
build/programs/mpi_ring: CC := OMPI_CC=$(CC) mpicc
build/programs/mpi_ring: | deps-mpi

# The fake's objects stand in for libibverbs, so a unit test links nothing else.
build/objects/gcc/%.o: tests/%.c | deps-build
	$(call compile,$(SANITIZE) -Itests -Itests/fake -c)
build/objects/gcc/explanations.o build/objects/clang/explanations.o: tests/implementation.c | deps-build
	$(call compile,$(SANITIZE) -Itests -Itests/fake -c)
build/objects/clang/%.o: tests/%.c | deps-test
	$(call compile,$(SANITIZE) -Itests -Itests/fake -c)
build/unit/gcc/%: build/objects/gcc/unit/%.o build/objects/gcc/implementation.o $(FAKE:%=build/objects/gcc/fake/%)
	$(call link)
build/unit/clang/%: build/objects/clang/unit/%.o build/objects/clang/explanations.o $(FAKE:%=build/objects/clang/fake/%)
	$(call link)
$(EXTERN): CFLAGS += -DRDMAEZ_EXTERN
build/objects/clang/% build/unit/clang/%: CC := $(CLANG)
link = $(if $(V),,@)mkdir -p $(@D); $(CC) $(SANITIZE) $^ -o $@

# Eight threads under ThreadSanitizer, in both ways of including; the fake takes one at a time (turns.c).
THREADS := main work work_extern
build/unit/threads/fake/%.o: tests/fake/%.c | deps-build
	$(call compile,-O1 -g1 -finstrument-functions -Itests -Itests/fake -c)
build/unit/threads/%.o: tests/unit/threads/%.c | deps-build
	$(call compile,-O1 -g1 $(SEEN) -Itests -Itests/fake -c)
build/unit/threads/work_extern.o: tests/unit/threads/work.c | deps-build
	$(call compile,-O1 -g1 $(SEEN) -DRDMAEZ_EXTERN -Itests -Itests/fake -c)
build/unit/threads/implementation.o: tests/implementation.c | deps-build
	$(call compile,-O1 -g1 $(SEEN) -DRDMAEZ_EXTERN -Itests -Itests/fake -c)
build/unit/threads/turns.o: SEEN :=
build/unit/threads/%: SEEN := -fsanitize=thread
build/unit/threads/threads: $(THREADS:%=build/unit/threads/%.o) $(addprefix build/unit/threads/,implementation.o turns.o $(FAKE:%=fake/%))
	$(if $(V),,@)$(CC) -fsanitize=thread -pthread $^ -o $@

# The same for other architectures, without sanitizers; rdma-core's headers are this machine's.
AFTER := -idirafter /usr/include
build/architectures/musl/%: AFTER := -idirafter /usr/include/$(shell $(CC) -print-multiarch) $(AFTER)
# Its lengths have other types than glibc's. The headers meet all warnings with it in tests/compile/headers.t.
build/architectures/musl/%: CFLAGS += -Wno-conversion -Wno-array-parameter
.PHONY: compiler-of
compiler-of: # for tests: of the architecture NAME
	@echo $(CC_$(NAME))
define architecture
build/architectures/$(1)/objects/%.o: tests/%.c | deps-build deps-architectures
	$$(call compile,-O1 -g0 -DUNDER_QEMU=$(if $(filter host i686 musl,$(1)),0,1) -Itests -Itests/fake $$(AFTER) -c)
build/architectures/$(1)/%: build/architectures/$(1)/objects/%.o $(patsubst %,build/architectures/$(1)/objects/%,implementation.o $(FAKE:%=fake/%))
	$$(link)
build/architectures/$(1)/%: CC := $(CC_$(1))
build/architectures/$(1)/%: SANITIZE :=
$(patsubst build/objects/gcc/%,build/architectures/$(1)/objects/%,$(filter build/objects/gcc/%,$(EXTERN))) build/architectures/$(1)/objects/architectures/messages.o: CFLAGS += -DRDMAEZ_EXTERN
endef
$(foreach name,host $(ARCHITECTURES),$(eval $(call architecture,$(name))))

# The same once more, to see what of the headers the unit tests reach. In a profile, functions of a file have the name of
# that file. By one name for all files a header's function is one, however many programs have it. What clang says of
# decisions that it does not follow goes to a file, for there is no option that keeps it silent.
COVER := -fprofile-instr-generate -fcoverage-mapping -fcoverage-mcdc -fcoverage-compilation-dir=. -Xclang -main-file-name -Xclang unit
build/coverage/objects/fake/%.o: tests/fake/%.c | deps-build deps-coverage
	$(call compile,-w -O0 -g0 -Itests -Itests/fake -c)
build/coverage/objects/%.o: tests/%.c | deps-build deps-coverage
	$(call compile,-w -O0 -g0 -Itests -Itests/fake $(COVER) -c 2>$(@:.o=.log) || { cat $(@:.o=.log) >&2; exit 1; })
build/coverage/objects/coverage/headers.o: COVER += -femit-all-decls
build/coverage/unit/%: build/coverage/objects/unit/%.o build/coverage/objects/implementation.o $(FAKE:%=build/coverage/objects/fake/%)
	$(link)
build/coverage/%: CC := clang-19
build/coverage/%: SANITIZE := -fprofile-instr-generate

# The fake as the library that programs load, for tests of rdmaez-explain without a device; and those programs.
FAKE_SHARED := $(patsubst tests/%.c,build/tests/%.o,$(wildcard tests/fake/*.c tests/fake/shared/*.c))
EXPLAINED := $(patsubst tests/tools/%.c,build/tests/%,$(wildcard tests/tools/explain/*.c))
build/tests/fake/%.o: tests/fake/%.c | deps-build
	$(call compile,-Itests -Itests/fake -fPIC -c)
build/tests/fake/fake_device.o: CFLAGS += -Dibv_open_device=fake_shared_open_device
build/tests/fake/fake_qp.o build/tests/fake/fake_driver.o: CFLAGS += -Dfake_work_entered=fake_shared_work_entered
build/tests/fake/fake_qp.o: CFLAGS += -Dibv_modify_qp=fake_shared_modify_qp
build/tests/fake/fake_event.o: CFLAGS += -Dibv_get_cq_event=fake_shared_get_cq_event
build/tests/fake/versions.map: tests/fake/shared/versions | deps-build
	@mkdir -p $(@D); $< >$@
build/tests/fake/libibverbs.so.1: $(FAKE_SHARED) build/tests/fake/versions.map
	$(if $(V),,@echo "$(CC) $@"; )$(CC) -shared -Wl,-soname,$(@F) -Wl,--version-script=$(lastword $^) $(FAKE_SHARED) -o $@
build/tests/fake/libmlx5.so.1: tests/fake/provider/libmlx5.c build/tests/fake/libibverbs.so.1
	$(call compile,-Itests/fake -fPIC -shared -Wl$(comma)-soname$(comma)$(@F) $(lastword $^))
OTHERS := efa hns mlx4 bnxt_re
$(OTHERS:%=build/tests/fake/lib%.so.1): build/tests/fake/lib%.so.1: tests/fake/provider/others.c build/tests/fake/libibverbs.so.1
	$(call compile,-D$(shell echo $* | tr a-z A-Z) -Itests/fake -fPIC -shared -Wl$(comma)-soname$(comma)$(@F) $(lastword $^))
build/tests/explain/provider: build/tests/fake/libmlx5.so.1 | $(OTHERS:%=build/tests/fake/lib%.so.1)
build/tests/explain/rows: | build/tests/fake/libmlx5.so.1

build/tests/fake/librdmacm.so.1: tests/fake/rdmacm/librdmacm.c build/tests/fake/libibverbs.so.1
	$(call compile,-Wno-unused-parameter -fPIC -shared -Wl$(comma)-soname$(comma)$(@F) $(lastword $^))
build/tests/explain/addresses build/tests/explain/cm_call build/tests/explain/cm_wrong: build/tests/fake/librdmacm.so.1
build/tests/explain/%: tests/tools/explain/%.c build/tests/fake/libibverbs.so.1
	$(call compile,-Itests/fake $(LIBVERBS) -pthread -rdynamic)
build/tests/explain/%: LIBVERBS = $(filter %.so.1,$^)
build/tests/explain/dlopen build/tests/explain/copies build/tests/explain/unload: LIBVERBS = -Wno-pedantic
build/tests/explain/traffic: LIBVERBS = -libverbs

# rdmaez-explain under ThreadSanitizer: the launcher takes the shared object that lies beside it.
EXPLAIN_SHARED := $(patsubst build/tools/%,build/threads/%,$(filter-out $(LAUNCHER_ONLY:%=build/tools/explain/%.o),$(call tool_objects,explain)))
build/threads/%: CFLAGS := $(filter-out -Wc++-compat,$(CFLAGS)) -D_GNU_SOURCE -fsanitize=thread
build/threads/%.o: tools/%.c | deps-build
	$(call compile,-DRDMAEZ_EXTERN -fPIC -fvisibility=hidden -c)
# The sanitizer looks for functions before it has begun: by libc's dlsym(), not by ours.
build/threads/explain/real.o: tools/explain/real.c | deps-build
	$(call compile,-DRDMAEZ_EXTERN -fPIC -fvisibility=hidden -c)
	@objcopy --localize-symbol=dlsym --localize-symbol=dlvsym $@
build/threads/rdmaez-explain.so: $(EXPLAIN_SHARED) build/threads/doctor/nldev.o tools/explain/explain.map
	$(call link_tool,-fsanitize=thread -shared -Wl$(comma)-z$(comma)defs$(comma)-Bsymbolic -Wl$(comma)--version-script=tools/explain/explain.map)
build/threads/rdmaez-explain: build/tools/rdmaez-explain build/threads/rdmaez-explain.so
	@cp $< $@
build/tests/explain/threads: CFLAGS += -fsanitize=thread
# What is dangerous where there are threads, with the sanitizer and without.
build/threads/programs/%: tests/tools/explain/%.c build/tests/fake/libibverbs.so.1
	$(call compile,-U_GNU_SOURCE -Itests/fake $(filter %.so.1,$^) -pthread -rdynamic)

# --- What the documentation is made of ----------------------------------------------------------

build/docs/data: docs/data.c | deps-build
	$(call compile,-libverbs)
build/docs/compare/%.o: CFLAGS := $(filter-out -Wc++-compat,$(CFLAGS))
build/docs/compare/%.o: tools/explain/%.c | deps-build
	$(call compile,$(SANITIZE) -D_GNU_SOURCE -c)
build/docs/outputs: docs/outputs.c $(FAKE:%=build/objects/gcc/fake/%) $(COMPARE:%=build/docs/compare/%.o) | deps-build
	$(call compile,$(filter %.o,$^) $(SANITIZE) -Itests/fake)

# Comments for what the headers' lists make.
build/docs/input/enumerators.dox: build/docs/data
	@mkdir -p $(@D)
	$< --enumerators >$@

build/docs/input/examples.dox: docs/site/examples.py $(wildcard examples/*.c examples/*.cc) | deps-docs
	@mkdir -p $(@D)
	python3 -B $^ >$@

# One run draws the diagrams of all types.
build/docs/diagrams/RC.svg: build/docs/html/data/transitions.json docs/site/diagrams.py docs/site/filter.py | deps-docs
	python3 -B docs/site/diagrams.py $< $(@D)

# The headers' tables for other languages, with their schemas, are published with the documentation.
build/docs/html/data/%.json: build/docs/data
	@mkdir -p $(@D)
	$< $* >$@
build/docs/html/data/%.schema.json: docs/schema/%.schema.json
	@mkdir -p $(@D)
	cp $< $@

# As a file, for what takes the documentation as it is.
build/docs/html/index.html: $(shell find docs include examples -type f) $(wildcard *.md)
	$(MAKE) --no-print-directory docs
	touch $@

build/%.d: ;
-include $(shell find build -name '*.d' -type f 2>/dev/null)
