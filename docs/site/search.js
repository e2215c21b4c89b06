/* SPDX-License-Identifier: MIT */
/*
 * How the search cuts words and weighs what it finds; the box itself is in site.js. Needs minisearch.js, and search-data.js,
 * which search_data.py makes: u address, t title, p page, k kind, x text of each section.
 */
'use strict';
const search = {
	/*
	 * An identifier counts as itself and as each of its ends, so that rdmaez_qp_to_rtr is found by qp_to_rtr and by rtr; a
	 * word with hyphens counts as itself and as its parts.
	 */
	words(text) {
		const found = [];
		for (const word of search.typed(text)) {
			found.push(word);
			if (word.includes('-'))
				found.push(...word.split('-').filter(Boolean));
			for (let at = word.indexOf('_'); at >= 0; at = word.indexOf('_', at + 1))
				if (word.length - at > 2)
					found.push(word.slice(at + 1));
		}
		return found;
	},

	/* What a person types is taken as it is. */
	typed(text) {
		return text.toLowerCase().match(/[\p{L}\p{N}_]+(?:-[\p{L}\p{N}_]+)*/gu) || [];
	},

	/* Titles win over text, pages over the reference, and most of all a title that ends in the word. */
	weight(section, term) {
		const title = section.t.toLowerCase().replace(/\(\)$/, '');
		const whole = title === term || title.endsWith('_' + term) || title.endsWith(' ' + term);
		return (section.k === 'page' ? 1.6 : 1) * (whole ? 2 : 1);
	},

	index(sections) {
		const index = new MiniSearch({
			idField: 'i', fields: ['t', 'p', 'x'], storeFields: [], tokenize: search.words, processTerm: term => term,
		});
		index.addAll(sections.map((section, i) => ({ ...section, i })));
		return index;
	},

	/* Of several words, such as a message that was copied, sections that have them as they were typed come first. */
	literally(sections, query) {
		const typed = query.trim().replace(/\s+/g, ' ').toLowerCase();
		const has = section => typed.includes(' ') && `${section.t} ${section.x}`.toLowerCase().includes(typed);

		return sections.sort((one, other) => has(other) - has(one));
	},

	/* The sections that have all the words, best first; where there is none, those that have words like them. */
	find(index, sections, query) {
		const options = {
			tokenize: search.typed, combineWith: 'AND', boost: { t: 5, p: 2, x: 1 },
			prefix: term => term.length > 1,
			weights: { prefix: 0.3, fuzzy: 0.1 },
			boostDocument: (id, term) => search.weight(sections[id], term),
		};
		const found = index.search(query, options);
		const like = found.length ? [] : index.search(query, { ...options, fuzzy: term => term.length > 4 ? 2 : false });

		return search.literally([...found, ...like].map(hit => sections[hit.id]), query);
	},
};
