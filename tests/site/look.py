#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""look.py CHECK HTML_DIR [PAGE...]: looks at a site in a browser and says what is wrong.

    pages      every page, or those named, on a phone and on a wide screen: width, console, requests
    themes     light and dark: backgrounds, and the contrast of what is written
    frame      the list of pages folded and opened, by the pointer and by the keyboard; the contents of a page; copying
    diagrams   each is visible, and within its figure
    search     what is typed finds the right page first, from file:// and from http://; the keyboard leads there
    shots      no check: screenshots of the pages named, into build/site-shots"""
import contextlib
import functools
import http.server
import pathlib
import sys
import threading

from browser import Browser

PHONE, WIDE = 400, 1400
FEWEST_PAGES, FEWEST_DIAGRAMS = 100, 11

# What people type, and the page that has to come first, with its heading where that matters.
QUERIES = {
    'EINVAL': 'why.html#einval',
    'ENODATA': 'why.html#enodata',
    'ibv_modify_qp': 'why.html',
    'qp_to_rtr': 'qp_8h.html#rdmaez_qp_to_rtr',
    'RTR': 'queue_pairs.html',
    'IBV_WC_RETRY_EXC_ERR': 'completions.html#ibv_wc_retry_exc_err',
    'Soft-RoCE': 'testing.html',
    'sgid_index': 'structrdmaez__path.html#sgid_index',
    'errno 110': 'why.html#etimedout',
    'Invalid argument': 'why.html#einval',
    'Failed to modify QP to RTR': 'programs.html#failed-to-modify-qp-to-rtr',
    'transport retry counter exceeded': 'completions.html#ibv_wc_retry_exc_err',
    'local protection error': 'completions.html#ibv_wc_loc_prot_err',
    'getting started': 'start.html',
    'state diagram': 'queue_pairs.html#transitions',
    'rdma_cm': 'cm.html',
    'rdma_connect': 'cm.html',
    'rdma_cm connect': 'cm.html',
    'quue pair': 'why.html',
    'ibv_modify_qp EINVAL': 'why.html#einval',
    'SRQ': 'shared_receive.html',
    'MTU': 'why.html',
    'timeout': 'completions.html',
    'retry_cnt': 'queue_pairs.html#retry-cnt',
    'ODP': 'performance.html#on-demand-paging-odp',
    'on-demand paging': 'performance.html#on-demand-paging-odp',
    'XRC': 'queue_pairs.html',
    'multicast': 'multicast.html',
    'UD multicast': 'multicast.html',
    'completion channel': 'events.html',
    'epoll': 'events.html',
    'threads': 'threads.html',
    'queue pair per thread': 'threads.html#one-queue-pair-for-each-thread',
    'performance': 'performance.html',
    'benchmark': 'performance.html#measure-the-ways-to-post',
    'signalling': 'performance.html#signal-few-sends',
    'batching': 'performance.html#post-and-poll-in-batches',
    'huge pages': 'performance.html#large-pages',
    'GPU memory': 'gpu.html',
    'Kubernetes': 'clusters.html#kubernetes',
    'Slurm': 'clusters.html#slurm',
    'GID index': 'programs.html#the-gid-index',
    'which GID index': 'programs.html#the-gid-index',
    'how do I find my GID index?': 'programs.html#the-gid-index',
    'max_dm_size': 'capabilities.html#max-dm-size',
    'max dm size': 'capabilities.html#max-dm-size',
    'how large is device memory?': 'device_memory.html#is-there-any-and-how-much',
    'max_qp_wr': 'capabilities.html#max-qp-wr',
    'active_mtu': 'capabilities.html#active-mtu',
    'firmware version': 'capabilities.html#fw-ver-firmware-version',
    'pkey': 'why.html',
    'qkey': 'queue_pairs.html',
    'atomic': 'queue_pairs.html#reads-and-atomics-in-flight',
    'memory window': 'completions.html#ibv_wc_mw_bind_err',
    'LID': 'completions.html',
    'mlx5 completion error': 'programs.html#mlx5-host1-got-completion-with-error-and-four-lines-of-hexad',
    'why does ibv_modify_qp return EINVAL': 'why.html',
    'how to use rdma_cm with epoll': 'events.html#one-epoll-for-connections-completions-and-events',
    'tutorial': 'start.html',
    'LD_PRELOAD setuid': 'explain.html#a-program-that-is-setuid-or-setgid-or-has-file-capabilities',
}

# Lines of logs as people paste them, with the numbers, hosts and addresses of one day, and the first words of the row
# that has to come first.
LINES = {
    'NCCL WARN Call to ibv_modify_qp failed with error Invalid argument errno 22': 'nccl-warn-call-to-ibv-modify-qp',
    'mlx5: node01: got completion with error:': 'mlx5-host1-got-completion-with-error',
    'NET/IB : Got completion from peer 10.0.0.2<4321> with status=12 opcode=0 len=0 vendor err 129':
        'net-ib-got-completion-from-peer-192-0-2-9',
    'Failed to modify QP 280 to RTR': 'failed-to-modify-qp-to-rtr',
    "Couldn't allocate MR": 'couldn-t-allocate-mr',
    "Couldn't allocate MR with error=14": 'couldn-t-allocate-mr',
    'GPU memory registration EFAULT': 'efault-14-bad-address',
    'ibv_open_device failed! errno: 2': 'ibv-open-device-failed-errno-2',
    'NCCL INFO Failed to open libibverbs.so[.1]': 'nccl-info-failed-to-open-libibverbs',
    'ibv_reg_dmabuf_mr (retain) failed: Invalid argument': 'ibv-reg-dmabuf-mr-failed',
    'node7:123:456 [3] NCCL WARN NET/IB : Got completion from peer 10.1.2.3<39842> with error 4, opcode 0, len 32, '
    'vendor err 81': 'net-ib-got-completion-from-peer-with-error-4',
    '[1690000000.123456] [node3:4711 :0] ib_mlx5_log.c:177 Transport retry count exceeded on mlx5_2:1/RoCE '
    '(synd 0x15 vend 0x81 hw_synd 0/0)': 'transport-retry-count-exceeded-on-mlx5-0-1-roce',
    'Libfabric error: (-12) Cannot allocate memory': 'rlimit-memlock-is-too-low',
    'ibv_query_gid(dev=mlx5_11 port=1 index=0) failed: Invalid argument': 'ibv-query-gid-dev-mlx5-11',
    'Call to ibv_modify_qp failed with 110 Connection timed out, on dev mlx5_4:1, curr state INIT, next state RTR, '
    'local GID index 3, local GID ::ffff:10.0.0.1, remote GID ::ffff:10.0.1.1':
        'call-to-ibv-modify-qp-failed-with-110-connection-timed-out',
    "libibverbs: Warning: couldn't load driver 'libbnxt_re-rdmav34.so'": 'libibverbs-warning-couldn-t-load-driver',
    'libibverbs: Warning: no userspace device-specific driver found for /sys/class/infiniband_verbs/uverbs3':
        'libibverbs-warning-no-userspace-device-specific-driver',
    'Failed status transport retry counter exceeded (12) for wr_id 2': 'failed-status-transport-retry-counter',
    'Failed status 10: wr_id 0 syndrom 0x88': 'failed-status-10',
    'fi_getinfo: -61 (No data available)': 'fi-getinfo-61-no-data-available',
    'cma event RDMA_CM_EVENT_ADDR_ERROR, error -110': 'rdma_cm',
    'cma event RDMA_CM_EVENT_REJECTED, error 8': 'nobody-listens',
    'cma event RDMA_CM_EVENT_REJECTED, error 28': 'rdma-cm-event-rejected-error-28',
    'rping: RDMA_CM_EVENT_UNREACHABLE, error -110': 'rdma-cm-event-unreachable-error-110',
    "modprobe: ERROR: could not insert 'nvidia_peermem': Invalid argument": 'modprobe-error-could-not-insert-nvidia',
    'mlx5dv_devx_umem_reg failed': 'mlx5dv-devx-umem-reg-failed',
    "IB device 'mlx5_7' wasn't found": 'ib-device-mlx5-0-not-found',
    "Unable to Connect the HCA's through the link": 'failed-to-modify-qp-318-to-rtr-unable-to-connect',
    'libibverbs: Warning: RLIMIT_MEMLOCK is 65536 bytes': 'libibverbs-warning-rlimit-memlock-is',
    'PML ucx cannot be selected': 'open-mpi-pml-ucx-cannot-be-selected',
    "work completion with status 'Work Request Flushed Error'": 'ibv_wc_wr_flush_err',
    'RNR retry counter exceeded': 'ibv_wc_rnr_retry_exc_err',
    'NCCL WARN Got async event : GID table change': 'nccl-got-async-event-gid-table-change',
    'Call to ibv_reg_mr failed with error Cannot allocate memory': 'call-to-ibv-reg-mr-failed-with-error-cannot',
    'ibv_reg_mr(address=0x7f21c0000000, length=1073741824, access=0xf) failed: Bad address': 'ibv-reg-mr-address-0x',
    "can't read sgid of index 5": 'a-gid-index-beyond-the-table',
    'UCX ERROR no auxiliary transport to node9: Unsupported operation': 'ucx-with-rc-alone',
    'status=IBV_WC_REM_INV_REQ_ERR(9)': 'ibv_wc_rem_inv_req_err',
    'cq completion failed status 5': 'status-5-work-request-flushed-error',
    'creation of CQ with size > 8192 is not supported.': 'ibv-create-cq-failed-invalid-argument',
    '[node17:31337] ibv_create_cq(cqe=65536) failed: Invalid argument': 'ibv-create-cq-failed-invalid-argument',
    'Failed to create QP, errno: 22': 'ibv-create-qp-failed-invalid-argument',
    'ibv_create_qp failed: Cannot allocate memory (errno 12)': 'ibv-create-qp-failed-cannot-allocate-memory',
    'ibv_post_send failed: Cannot allocate memory (12)': 'ibv-post-send-failed-cannot-allocate-memory',
    "Couldn't post send: qp 0 scnt=77": 'ibv-post-send-failed-cannot-allocate-memory',
    'infiniband mlx5_3: dump_cqe:278:(pid 4711): dump error cqe': 'infiniband-mlx5-1-dump-cqe',
    'Unexpected CQE error syndrome 0x13 CQN = 0x401 QPN = 0x1af wqe_counter 3': 'unexpected-cqe-error-syndrome',
    "GPU Direct RDMA Disabled for HCA 3 'mlx5_7'": 'gpu-direct-rdma-disabled-for-hca',
    'node4:99:101 [0] NCCL WARN NET/IB: No device found.': 'net-ib-no-device-found',
    "[1699999999.000001] [host7:123  :0] ib_md.c:1161 UCX ERROR ibv_reg_mr(address=0x7fff00001000, length=8192) failed: "
    "Cannot allocate memory. Please set max locked memory (ulimit -l) to 'unlimited'": 'please-set-max-locked-memory',
    'max locked memory unlimited': 'please-set-max-locked-memory',
    'ERROR: ibv_get_device_list() returned empty list': 'ibv-get-device-list-returned-an-empty-list',
    'madvise() failed with ENOMEM vm.max_map_count': 'enomem-12-madvise-failed',
    "larger than device's max_mr_size": 'einval-22-larger-than-max-mr-size',
    'got wc error status 9 remote invalid request error vendor_err 0x8a': 'status-9-remote-invalid-request-error',
    'Completion with error: status=13 (RNR retry counter exceeded)': 'status-13-rnr-retry-counter-exceeded',
    'Fix ibv_poll_cq hang due to CQ overflow': 'cq-overflow-ibv-event-cq-err',
    'RDMA AMO_ADD atomics into GPU VRAM hang': 'when-it-fails',
    'mlx5_0: failed to open device /dev/infiniband/uverbs0: Permission denied': 'couldn-t-get-context-for-mlx5-0',
    'mlx5_core 0000:5e:00.0: mlx5_cmd_check:810: CREATE_QP(0x500) op_mod(0x0) failed, status limits exceeded(0x8), '
    'syndrome (0x18af6), err(-12)': 'mlx5-core-0000-3b-00-0-create-qp',
    'mlx5_core 0000:3b:00.0: CREATE_MKEY(0x200) op_mod(0x0) failed, status limits exceeded(0x8), syndrome (0x18af6)':
        'mlx5-core-0000-3b-00-0-create-mkey',
    'ibv_reg_dmabuf_mr failed: Operation not supported (95)': 'ibv-reg-dmabuf-mr-failed-operation-not-supported',
    'rdma_create_qp: Cannot allocate memory': 'ibv-create-qp-failed-cannot-allocate-memory',
    'ibv_modify_qp(RTS) failed, out_reads 128 exceeds max_qp_rd_atom 16': 'failed-to-modify-qp-318-to-rts',
    'node2:77:79 [1] NCCL WARN NET/IB : Got completion from peer 10.8.1.5<40123> with error 13, opcode 0, len 0, '
    'vendor err 135': 'nccl-net-ib-got-completion-from-peer-with-error-13',
    'Failed to register memory region: Input/output error errno 5 length 68719476736': 'eio-5-input-output-error',
    '[host:0] ib_mlx5_log.c:171 Remote access error on mlx5_2:1/IB (synd 0x13 vend 0x88 hw_synd 0/0)':
        'remote-access-on-mlx5-0-1-roce',
    'Local protection error on mlx5_0:1/IB (synd 0x4 vend 0x51)': 'local-protection-on-mlx5-0-1-roce',
    'Poll CQ: remote operation error status 11': 'status-11-remote-operation-error',
    'local access violation work queue error': 'ibv_event_qp_access_err',
    'NCCL WARN NET/IB : Got async event : port error': 'nccl-got-async-event-port-error',
    'ibv_fork_init hugepages ibv_reg_mr Invalid argument': 'einval-22-invalid-argument-2',
    'qp state ERR ibv_post_recv returned 12 Cannot allocate memory': 'ibv-post-recv-failed-cannot-allocate-memory',
    "iWARP doesn't support CQ resize. Current capacity 4096, required 8192": 'iwarp-doesn-t-support-cq-resize',
    'UCX WARN IB: ibv_fork_init() was disabled or failed, yet a fork() has been issued': 'ucx-ib-ibv-fork-init-was',
    'ibv_create_ah failed: Invalid argument (22), sgid_index 1, dgid ::ffff:172.17.22.101': 'ibv-create-ah-failed',
    'node3:12:15 [1] NCCL WARN NET/IB : Unable to open device mlx5_4': 'nccl-warn-net-ib-unable-to-open-device',
    'rdma_resolve_addr: No such device': 'rdma-cm-event-addr-error-error-19',
    'RDMA_CM_EVENT_DEVICE_REMOVAL': 'rdma-cm-event-device-removal',
}

WIDTH = '''(() => {
    const root = document.documentElement, inside = 'table, pre, .fragment, figure, .pages, .toc';
    const over = root.scrollWidth - root.clientWidth;
    const wide = [...document.querySelectorAll('main *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1
        && !e.parentElement.closest(inside));
    return over > 0 || wide.length
        ? `${over} px too wide: ` + wide.slice(0, 3).map(e => e.outerHTML.slice(0, 60)) : '';
})()'''

# The luminance of the background, and what is visible, has text of its own and too little contrast, by WCAG 2: 7 for
# running text, 4.5 for the rest.
CONTRAST = '''(() => {
    const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    function luminance(colour) {
        canvas.clearRect(0, 0, 1, 1);
        canvas.fillStyle = colour;
        canvas.fillRect(0, 0, 1, 1);
        const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data]
            .map(v => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
        return .2126 * r + .7152 * g + .0722 * b;
    }
    function behind(element) {
        for (let e = element; e; e = e.parentElement)
            if (!/^rgba\\(.*, 0\\)$|^transparent$/.test(getComputedStyle(e).backgroundColor))
                return getComputedStyle(e).backgroundColor;
    }
    const written = [...document.querySelectorAll('body *')].filter(e => e.checkVisibility({ opacityProperty: true })
        && [...e.childNodes].some(n => n.nodeType === Node.TEXT_NODE && n.textContent.trim()));
    const poor = written.map(e => {
        const style = getComputedStyle(e), drawn = e.namespaceURI.endsWith('svg');
        const [a, b] = [luminance(drawn ? style.fill : style.color), luminance(behind(e))];
        const running = /^(P|LI|TD|DD|H1|H2|H3|H4|B)$/.test(e.tagName) && !e.closest('.toc, .pages');
        return { e, ratio: (Math.max(a, b) + .05) / (Math.min(a, b) + .05), need: running ? 7 : 4.5 };
    }).filter(({ ratio, need }) => ratio < need).map(({ e, ratio }) => `${ratio} ${e.outerHTML.slice(0, 80)}`);
    return { back: luminance(behind(document.body)), poor: poor.slice(0, 3) };
})()'''

COPY = '''(() => {
    let copied = '';
    document.execCommand = () => { copied = document.activeElement.value; };
    document.querySelector('.copy.wanted').click();
    return copied;
})()'''

DIAGRAMS = '''[...document.querySelectorAll('figure.diagram')].map(figure => {
    const svg = figure.querySelector('svg'), frame = figure.getBoundingClientRect(), box = svg.getBoundingClientRect();
    const outside = [...svg.querySelectorAll('text, polygon, path')].map(e => e.getBoundingClientRect())
        .filter(r => r.left < box.left - 1 || r.right > box.right + 1
            || r.top < box.top - 1 || r.bottom > box.bottom + 1);
    const said = svg.getAttribute('aria-label') || 'a diagram without a label';
    return box.width < 100 || box.height < 80 ? said + ' is too small to see'
        : outside.length ? said + ' runs over its edge'
        : box.left < frame.left || figure.scrollWidth < box.width || box.bottom > frame.bottom
            ? said + ' leaves its figure' : '';
})'''


def address(directory, page):
    """The page as a file."""
    return f'{directory.resolve().as_uri()}/{page}'


def named(directory, names):
    """The pages named, or all."""
    found = names or sorted(path.name for path in directory.glob('*.html'))
    if not names and len(found) < FEWEST_PAGES:
        yield f'only {len(found)} pages'
    return found


def pages(browser, directory, names):
    """Every page on a phone and on a wide screen."""
    for page in (yield from named(directory, names)):
        for width in PHONE, WIDE:
            browser.open(address(directory, page), width=width)
            if wrong := browser.eval(WIDTH):
                yield f'{page} at {width} px: {wrong}'
            if not browser.eval('document.querySelectorAll("h1").length === 1 && document.title.includes("rdmaez")'):
                yield f'{page}: no title, or more than one'


def themes(browser, directory, names):
    """Both colour schemes, on pages of each kind."""
    for page in names or ['index.html', 'completions.html', 'queue_pairs.html', 'qp_8h.html', 'design.html',
                          'structrdmaez__qp__opts.html', '01_first_8c-example.html']:
        for scheme in 'light', 'dark':
            browser.open(address(directory, page), scheme=scheme)
            seen = browser.eval(CONTRAST)
            if not (seen['back'] < .05 if scheme == 'dark' else seen['back'] > .9):
                yield f'{page}: the background is not {scheme}'
            for poor in seen['poor']:
                yield f'{page}, {scheme}: poor contrast {poor}'


def frame(browser, directory, _):
    """The list of pages, the contents, and what is marked in them."""
    def shown(where):
        return browser.eval(f'document.querySelector("{where}")?.checkVisibility()')
    browser.open(address(directory, 'qp_8h.html'), width=PHONE)
    if shown('.pages') or shown('.toc'):
        yield 'on a phone the list of pages is not folded'
    if browser.eval('document.querySelector("h1").getBoundingClientRect().top') > 150:
        yield 'on a phone the text is not first'
    browser.click('.menu-button')
    if not shown('.pages'):
        yield 'on a phone the list of pages does not open'
    browser.click('.menu-button')
    browser.eval('document.querySelector(".menu-box").focus()')
    browser.press(' ')
    if not shown('.pages'):
        yield 'the list of pages does not open by the keyboard'
    browser.open(address(directory, 'qp_8h.html'), width=WIDE)
    if not shown('.pages') or not shown('.toc a'):
        yield 'on a wide screen the list of pages or the contents are missing'
    if browser.eval('[...document.querySelectorAll(".pages [aria-current]")].map(e => e.textContent).join()') != 'qp.h':
        yield 'the page is not marked in the list of pages'
    levels = browser.eval('[...document.querySelectorAll(".pages summary")].map(e => e.textContent)')
    if len(levels) < 8:
        yield f'the reference is not grouped by level: {levels}'
    browser.press('Tab')
    if browser.eval('document.activeElement.className') != 'skip':
        yield 'the first thing that Tab reaches is not the way to the text'
    overlap = browser.eval('document.querySelector(".toc").getBoundingClientRect().left < '
                           'document.querySelector("main").getBoundingClientRect().right - 1')
    if overlap:
        yield 'the contents lie over the text'
    browser.open(address(directory, '01_first_8c-example.html'))
    source = pathlib.Path('examples/01_first.c').read_text(encoding='utf-8')
    browser.eval('document.querySelector(".block:has(.line) .copy").className = "copy wanted"')
    if [line.split() for line in browser.eval(COPY).splitlines()] != [line.split() for line in source.splitlines()]:
        yield 'what is copied is not the code'


def diagrams(browser, directory, names):
    """All drawings, on a phone and on a wide screen."""
    count = 0
    for page in (yield from named(directory, names)):
        if '<figure class="diagram">' not in (directory / page).read_text(encoding='utf-8'):
            continue
        for width in PHONE, WIDE:
            browser.open(address(directory, page), width=width)
            seen = browser.eval(DIAGRAMS)
            yield from (f'{page} at {width} px: {wrong}' for wrong in seen if wrong)
        count += len(seen)
    if not names and count < FEWEST_DIAGRAMS:
        yield f'only {count} diagrams'


@contextlib.contextmanager
def served(directory):
    """The site from a web server on this machine."""
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), functools.partial(Quiet, directory=directory))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f'http://127.0.0.1:{server.server_port}'
    finally:
        server.shutdown()
        server.server_close()


def hits(browser, query):
    """What is found for what is typed, best first."""
    browser.type('#query', query)
    if not browser.until(f'document.querySelector("#hits").dataset.query === {query!r}', seconds=20):
        raise LookupError('the search does not answer')
    return browser.eval('[...document.querySelectorAll("#hits a")].map(a => a.getAttribute("href"))')


def searches(browser, base):
    """The searches from one address, and the keyboard's way to what was found."""
    browser.open(f'{base}/design.html', width=PHONE)
    for query, want in QUERIES.items():
        found = hits(browser, query)
        if not found or found[0] != want and found[0].partition('#')[0] != want:
            yield f'{base[:4]}: {query} finds {found[:3]}, not {want} first'
    for query, want in LINES.items():
        found = hits(browser, query)
        if not found or not found[0].partition('#')[2].startswith(want):
            yield f'{base[:4]}: {query} finds {found[:3]}, not {want} first'
    for query in 'LID', 'hop limit', 'memory window', 'timeout':
        kinds = ''.join('m' if address.startswith('struct') and '#' in address else
                        'r' if '_8h.html' in address or address.startswith('struct') else 'p' for address in hits(browser, query))
        if 'm' in kinds and kinds.rindex('p') > kinds.index('m'):
            yield f'{base[:4]}: {query} finds members of structs before pages'
    if hits(browser, 'nonesuchword') or 'Nothing' not in browser.eval('document.querySelector("#hits").textContent'):
        yield f'{base[:4]}: what is nowhere is found'
    if browser.eval('document.documentElement.scrollWidth > document.documentElement.clientWidth'):
        yield f'{base[:4]}: what was found is too wide for a phone'
    second = hits(browser, 'queue pair')[1]
    browser.press('ArrowDown')
    browser.press('ArrowDown')
    browser.press('Enter')
    if not browser.until(f'location.href.endsWith({second!r}) && document.readyState === "complete"', seconds=20):
        yield f'{base[:4]}: arrows and Enter do not open the second hit {second}'
    browser.press('/')
    if browser.eval('document.activeElement.id') != 'query':
        yield f'{base[:4]}: / does not lead to the search'
    first = hits(browser, 'sgid_index')[0]
    browser.press('Escape')
    if browser.eval('document.querySelector("#hits").checkVisibility()'):
        yield f'{base[:4]}: Escape does not close the search'
    hits(browser, 'sgid_index')
    browser.press('Enter')
    if not browser.until(f'location.href.endsWith({first!r}) && document.readyState === "complete"', seconds=20):
        yield f'{base[:4]}: Enter does not open the first hit {first}'


def search(browser, directory, _):
    """As a file, and as a web site."""
    yield from searches(browser, directory.resolve().as_uri())
    with served(directory) as base:
        yield from searches(browser, base)


def shots(browser, directory, names):
    """Pictures for a person: phone and wide, light and dark."""
    into = pathlib.Path('build/site-shots')
    into.mkdir(parents=True, exist_ok=True)
    for page in names:
        for width in PHONE, WIDE:
            for scheme in 'light', 'dark':
                browser.open('about:blank')
                browser.open(address(directory, page), width=width, scheme=scheme)
                browser.screenshot(into / f'{page.replace(".html", "").replace("#", "-")}-{width}-{scheme}.png')
    return
    yield


def main():
    check = {check.__name__: check for check in (pages, themes, frame, diagrams, search, shots)}[sys.argv[1]]
    wrong = []
    with Browser() as browser:
        try:
            wrong.extend(check(browser, pathlib.Path(sys.argv[2]), sys.argv[3:]))
        except LookupError as error:
            wrong.append(str(error))
        wrong += browser.errors
    print('\n'.join(wrong[:30]))
    sys.exit(bool(wrong))


if __name__ == '__main__':
    main()
