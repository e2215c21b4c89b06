/* SPDX-License-Identifier: MIT */
/*
 * What the pages do: copy a block of code, and search. Works from file:// too, since nothing is fetched: what the search needs comes
 * by script elements, when the box is first used.
 */
'use strict';

document.querySelector('.pages [aria-current]')?.scrollIntoView({ block: 'nearest' });

/* --- Copying ---------------------------------------------------------------------------------- */

/* By way of a text area: the clipboard's own interface does not exist in a page from file://. */
function copy(text) {
	const area = Object.assign(document.createElement('textarea'), { value: text });

	document.body.append(area);
	area.select();
	document.execCommand('copy');
	area.remove();
}

function textOf(block) {
	const lines = [...block.querySelectorAll('.line')].map(line => line.textContent);

	return (lines.length ? lines.join('\n') : block.textContent).trimEnd() + '\n';
}

for (const block of document.querySelectorAll('.fragment, pre:not(.declaration)')) {
	const frame = Object.assign(document.createElement('div'), { className: 'block' });
	const button = Object.assign(document.createElement('button'), { className: 'copy', type: 'button', textContent: 'Copy' });

	button.onclick = () => {
		copy(textOf(block));
		button.textContent = 'Copied';
		setTimeout(() => { button.textContent = 'Copy'; }, 1500);
	};
	block.replaceWith(frame);
	frame.append(block, button);
}

/* --- Searching -------------------------------------------------------------------------------- */

const box = document.getElementById('query'), hits = document.getElementById('hits');
const MOST = 20, BEFORE = 50, EXCERPT = 170;
let loading, index, chosen = -1;

function script(src) {
	return new Promise((resolve, reject) => {
		document.head.append(Object.assign(document.createElement('script'), { src, onload: resolve, onerror: reject }));
	});
}

function load() {
	return loading ??= Promise.all(['minisearch.js', 'search.js', 'search-data.js'].map(script))
		.then(() => { index = search.index(searchData); });
}

function element(tag, text) {
	return Object.assign(document.createElement(tag), { textContent: text });
}

/* A piece of a section's text around the first of the words, with all of them marked. */
function excerpt(text, terms) {
	const span = document.createElement('span');
	const places = terms.map(term => text.toLowerCase().indexOf(term)).filter(at => at >= 0);
	const from = places.length ? Math.max(0, text.lastIndexOf(' ', Math.min(...places) - BEFORE)) : 0;
	const any = new RegExp('(' + terms.map(term => term.replace(/[^\w]/g, '\\$&')).join('|') + ')', 'gi');

	span.append(from ? '… ' : '');
	text.slice(from, from + EXCERPT).split(any)
		.forEach((part, i) => span.append(i % 2 ? element('mark', part) : part));
	span.append(from + EXCERPT < text.length ? ' …' : '');
	return span;
}

function hit(section, terms, i) {
	const link = Object.assign(document.createElement('a'), { href: section.u, id: `hit-${i}`, role: 'option' });

	link.append(element('b', section.t));
	if (section.t !== section.p)
		link.append(element('small', section.p));
	link.append(excerpt(section.x, terms));
	return link;
}

function show() {
	const terms = search.typed(box.value);
	const found = terms.length ? search.find(index, searchData, box.value).slice(0, MOST) : [];

	hits.replaceChildren(...found.map((section, i) => hit(section, terms, i)));
	if (terms.length && !found.length)
		hits.append(element('p', 'Nothing found.'));
	hits.dataset.query = box.value;
	open(terms.length > 0);
	choose(-1);
}

function open(yes) {
	hits.hidden = !yes;
	box.setAttribute('aria-expanded', yes);
}

function choose(which) {
	chosen = which;
	box.removeAttribute('aria-activedescendant');
	[...hits.querySelectorAll('a')].forEach((link, i) => {
		link.setAttribute('aria-selected', i === chosen);
		if (i !== chosen)
			return;
		link.scrollIntoView({ block: 'nearest' });
		box.setAttribute('aria-activedescendant', link.id);
	});
}

box.addEventListener('focus', load);
box.addEventListener('input', () => load().then(show));
box.form.addEventListener('submit', event => {
	event.preventDefault();
	load().then(() => {
		if (hits.dataset.query !== box.value)
			show();
		hits.querySelectorAll('a')[Math.max(0, chosen)]?.click();
	});
});
addEventListener('keydown', event => {
	const links = hits.querySelectorAll('a').length;

	if (event.key === '/' && !/INPUT|TEXTAREA/.test(document.activeElement.tagName)) {
		event.preventDefault();
		box.focus();
	} else if (event.key === 'Escape') {
		open(false);
		box.blur();
	} else if (document.activeElement === box && links && /^Arrow(Down|Up)$/.test(event.key)) {
		event.preventDefault();
		choose(event.key === 'ArrowDown' ? (chosen + 1) % links : (chosen + links - (chosen < 0 ? 0 : 1)) % links);
	}
});
addEventListener('click', event => {
	if (!event.target.closest('.search'))
		open(false);
	else if (event.target.closest('#hits a'))
		open(false);
});
