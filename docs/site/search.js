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
			if (/^[a-z]_key$/.test(word))
				found.push(word.replace('_', '')); // P_Key is written pkey as well
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

	/* Of a question, only the words that say what it is about. */
	asked(words) {
		const first = /^(can|do|does|how|is|what|when|where|which|why)$/;
		const small = /^(an?|and|are|be|by|find|for|from|get|i|in|it|me|my|of|on|or|that|the|there|to|use|with|you)$/;
		const rest = words.filter(word => !first.test(word) && !small.test(word));
		return words.length && first.test(words[0]) && rest.length ? rest : words;
	},

	/*
	 * Titles win over text, and most of all a title that ends in the word. Of a plain word, a page's section says more than
	 * a function whose name has it, and much more than a row of a table or a member of a struct. A row says more again if
	 * its title has all of three words or more.
	 */
	weight(section, term, terms) {
		const title = section.t.toLowerCase().replace(/\(\)$/, ''), code = term.includes('_');
		const whole = title === term || title.endsWith(' ' + term) || title.endsWith('_' + term) && (code || section.k === 'page');
		const row = terms.length > 2 && terms.every(word => title.includes(word)) ? 0.5 : 0.2;
		const kind = code ? { page: 1.6, row: 1.6 } : { page: 2, row, reference: 0.3, member: 0.2 };
		return (kind[section.k] || 1) * (whole ? 2 : 1);
	},

	/* Members of structs and enumerators come last, unless somebody has typed a name of the kind they have. */
	membersLast(hits, sections, terms) {
		const last = hit => sections[hit.id].k === 'member' && !terms.some(term => term.includes('_'));
		return [...hits.filter(hit => !last(hit)), ...hits.filter(last)];
	},

	index(sections) {
		const index = new MiniSearch({
			idField: 'i', fields: ['t', 'p', 'x'], storeFields: [], tokenize: search.words, processTerm: term => term,
		});
		index.addAll(sections.map((section, i) => ({ ...section, i })));
		return index;
	},

	/*
	 * Of more than two words, such as a message that was copied, sections that have them as they were typed come first. Two
	 * words stand side by side by chance.
	 */
	literally(sections, query) {
		const typed = query.trim().replace(/\s+/g, ' ').toLowerCase();
		const has = section => typed.split(' ').length > 2 && `${section.t} ${section.x}`.toLowerCase().includes(typed);

		return sections.sort((one, other) => has(other) - has(one));
	},

	/*
	 * How much of the text a section has: rare words count more, and twice in its title, most of all where the title has
	 * little else, as that of a message has. Numbers count half, because most of them are of one day.
	 */
	likeness(section, hit, rarity) {
		const title = search.typed(section.t), matched = Object.entries(hit.match);
		const points = matched.reduce((sum, [term, fields]) =>
			sum + rarity(term) * (fields.includes('t') ? 2 : 1) / (/^\d+$/.test(term) ? 2 : 1), 0);
		return points * (1 + title.filter(word => hit.match[word]).length / Math.max(title.length, 4));
	},

	/*
	 * The sections that have all the words that are known here, best first. Numbers, hosts and addresses of somebody's log
	 * are not, and do not count; a word that is spelled a little differently does. Where no section has all, those that have
	 * some. Of many words, as a copied line has, or where no section has all, those sections come first that are most like
	 * what was typed.
	 */
	find(index, sections, query) {
		const terms = [...new Set(search.asked(search.typed(query)))];
		const options = {
			tokenize: search.typed, combineWith: 'AND', boost: { t: 5, p: 2, x: 1 },
			prefix: term => term.length > 1,
			weights: { prefix: 0.3, fuzzy: 0.1 },
			boostDocument: (id, term) => search.weight(sections[id], term, terms),
		};
		const exact = terms.filter(term => index.search(term, options).length);
		const spelled = terms.filter(term => !exact.includes(term) && term.length > 4 && !/\d/.test(term));
		const like = { ...options, fuzzy: term => spelled.includes(term) ? 2 : false };
		const known = terms.filter(term => exact.includes(term) || spelled.includes(term) && index.search(term, like).length);
		let hits = known.length ? index.search(known.join(' '), like) : [];
		const some = !hits.length && exact.length > 0;

		if (some)
			hits = index.search(exact.join(' '), { ...options, combineWith: 'OR', prefix: false });
		if (terms.length > 4 || some) {
			const counts = new Map();
			const rarity = term => {
				if (!counts.has(term))
					counts.set(term, index.search(term, { ...options, prefix: false }).length);
				return Math.log(sections.length / Math.max(counts.get(term), 1));
			};
			hits = hits.map(hit => ({ ...hit, score: search.likeness(sections[hit.id], hit, rarity) }))
				.sort((one, other) => other.score - one.score);
		}
		return search.literally(search.membersLast(hits, sections, terms).map(hit => sections[hit.id]), query);
	},
};
