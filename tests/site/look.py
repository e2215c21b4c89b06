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
    'Failed to modify QP to RTR': 'programs.html#the-gid-index',
    'transport retry counter exceeded': 'completions.html#ibv_wc_retry_exc_err',
    'local protection error': 'completions.html#ibv_wc_loc_prot_err',
    'getting started': 'start.html',
    'state diagram': 'queue_pairs.html#transitions',
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
