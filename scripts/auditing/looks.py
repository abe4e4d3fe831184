"""Each fact at each observation point, computed from the contexts' bytes, by docs/measurement: "Fates", "Bound recall", "Eligible facts"
and "Chance correction"."""

import bisect
from collections import defaultdict

from .binding import Subjects, units
from .matching import Value, normal
from .uses import Uses


class Known:
    """What is known of one conversation's facts, and what each text holds, found once."""

    def __init__(self, conversation, foreign):
        self.conversation, facts = conversation, conversation.facts
        self.values = [Value(fact) for fact in facts]
        self.mentions = [
            sorted({conversation.index[one] for one in fact["evidence_message_ids"]})
            for fact in facts
        ]
        self.stated = defaultdict(set)
        for fact, mentions in enumerate(self.mentions):
            for mention in mentions:
                self.stated[mention].add(fact)
        self.until = [conversation.index.get(fact.get("valid_to")) for fact in facts]
        foreign = [
            (other, fact)
            for other in foreign
            for fact in other.facts
            if not fact.get("decoy_of") and not fact.get("generic")
        ]
        foreign = [
            fact
            for other, fact in foreign
            if not (other.projects & conversation.projects and self.states(Value(fact)))
        ]
        self.foreign = [Value(fact) for fact in foreign]
        self.foreign_kinds = [fact["value_kind"] for fact in foreign]
        self.named = [fact for fact, row in enumerate(facts) if row["category"] != "incidental"]
        self.subjects = None
        if self.named:
            self.subjects = Subjects(
                [facts[fact]["subject"] for fact in self.named],
                [text for texts in conversation.texts for text in texts],
            )
        self.held_in, self.bound_in, self.foreign_in = {}, {}, {}
        self.uses = Uses(self)
        self.counts = [self.is_bound_where_stated(fact) for fact in range(len(facts))]
        self.given_at = {}
        for at, texts in enumerate(conversation.texts if self.named else ()):
            for text in texts:
                for binding in self.bound(text):
                    self.given_at.setdefault(binding, at)

    def states(self, value):
        return any(
            value.held(normal(text, True)) for texts in self.conversation.texts for text in texts
        )

    def subject(self, fact):
        return self.subjects.of_name[self.conversation.facts[fact]["subject"]]

    def is_bound_where_stated(self, fact):
        """Whether the fact has a subject, to which its first statement gives it."""
        if fact not in self.named or not self.mentions[fact]:
            return False
        first = self.conversation.texts[self.mentions[fact][0]]
        return any((fact, self.subject(fact)) in self.bound(text) for text in first)

    def rivals(self, fact, length):
        """The wrong subjects: those that the first messages, so many, state something about, but never give this value to. With
        how many stated values they have for each of its own subject."""
        kinds = [told["value_kind"] for told in self.conversation.facts]
        own = self.subject(fact)
        stated = [
            one for one in self.named if self.mentions[one] and self.mentions[one][0] < length
        ]
        for counted in [one for one in stated if kinds[one] == kinds[fact]], stated:
            owned = [self.subject(one) for one in counted]
            others = [
                subject
                for subject in owned
                if subject != own and self.given_at.get((fact, subject), length) >= length
            ]
            if others:
                break
        return set(others), len(others) / max(owned.count(own), 1)

    def held(self, text):
        """The facts that a text holds."""
        if text not in self.held_in:
            form = normal(text, True)
            self.held_in[text] = frozenset(
                fact for fact, value in enumerate(self.values) if value.held(form)
            )
        return self.held_in[text]

    def of_foreign(self, text):
        if text not in self.foreign_in:
            form = normal(text, True)
            self.foreign_in[text] = frozenset(
                fact for fact, value in enumerate(self.foreign) if value.held(form)
            )
        return self.foreign_in[text]

    def bound(self, text):
        """Facts with the subjects that win at them."""
        if text not in self.bound_in:
            found, held = set(), [fact for fact in self.held(text) if fact in self.named]
            for unit in units(text) if held else ():
                for fact in held:
                    for place in self.values[fact].held(unit.form):
                        found.add((fact, self.subjects.winner(unit, place)))
            self.bound_in[text] = frozenset(
                (fact, subject) for fact, subject in found if subject is not None
            )
        return self.bound_in[text]


class Tokens:
    """Tokens before each message, as far as a run's records say: exact at turns and observations, between bounds elsewhere."""

    def __init__(self, conversation, records):
        exact = {0: 0}
        outputs = {}
        for record in records:
            for row in record["observations"]:
                if row.get("log_tokens"):
                    exact[conversation.length(row["after"])] = row["log_tokens"]
            for turn in record["turns"]:
                at = conversation.index[turn["message"]]
                outputs[at] = turn["output"]
                if record["case"]["strategy"] == "full":
                    exact[at] = turn["input"] - record["case"].get("tool_tokens", 0)
        for at, output in outputs.items():
            if at in exact:
                exact[at + 1] = exact[at] + output
            elif at + 1 in exact:
                exact[at] = exact[at + 1] - output
        self.exact, self.known = exact, sorted(exact)

    def bounds(self, at):
        if at in self.exact:
            return self.exact[at], self.exact[at]
        place = bisect.bisect(self.known, at)
        return self.exact[self.known[place - 1]], self.exact[self.known[place]] if place < len(
            self.known
        ) else float("inf")

    def is_distant(self, mention, length, trigger):
        """Whether a mention ends a trigger's length before a point; nothing where the records do not say."""
        (least, most), (now_least, now_most) = self.bounds(mention + 1), self.bounds(length)
        if now_least - most >= trigger:
            return True
        return False if now_most - least < trigger else None


class Fact:
    """One fact on its way through a conversation."""

    def __init__(self):
        self.stated = self.verbatim = self.carried = self.stored = self.noted = self.guessed = False
        self.read = self.replied = False
        self.loss = None

    def mentioned(self):
        self.stated = self.verbatim = True
        self.read = self.replied = self.guessed = False
        self.loss = None

    def changed(self, original, written, stored, noted, requested, replied):
        if not self.stated:
            return
        alive = self.verbatim or self.carried or self.stored
        was_present, was_carried = self.verbatim or self.carried, self.carried
        read = alive and requested
        if read:
            self.guessed = False
        elif replied and not self.carried and not self.stored:
            self.guessed = True
        self.verbatim = original
        self.carried = alive and written and not self.guessed
        self.stored, self.noted = alive and stored and not self.guessed, noted
        self.read |= read
        eroded = was_carried and not self.carried
        # Its copy is lost, so what a reply once held is there no more; what this one writes is.
        self.replied = (self.replied and not eroded) or (read and replied)
        if original or self.carried:
            self.loss = None
        elif was_present or self.loss is None:
            self.loss = "e" if eroded or self.replied else "u" if self.read else "d"

    def letter(self):
        if self.verbatim or self.carried:
            return "v" if self.verbatim else "c"
        return self.loss

    def is_stored(self):
        """Whether storage holds it while the context does not."""
        return not (self.verbatim or self.carried) and (self.stored or self.noted)


class Case:
    """A case, replayed from what its record holds."""

    def __init__(self, run, record, known, tokens, moments):
        """`moments` are the lengths of the log at which a row that keeps nothing compacts; nothing if it was not run."""
        self.run, self.record, self.known, self.tokens = run, record, known, tokens
        self.moments = moments
        self.conversation = known.conversation
        self.trigger = record["case"]["budget"]["trigger"]
        # There all cases compact when the recorded program did. What it read is not known, so how a
        # fact was lost is not either.
        self.is_recorded = record["case"]["protocol"] == "recorded"
        self.has_requests = record["case"]["family"] != "recorded"
        self.compacted_at = 0
        self.facts = [Fact() for _ in self.conversation.facts]
        self.rows = {row["after"]: row for row in record.get("contexts", [])}
        self.calls = defaultdict(list)
        for row in [*record["compactions"], *record.get("checkpoints", [])]:
            self.calls[row["after"]] += row["calls"]
        self.decisions = {row["after"]: row["outcome"]["outcome"] for row in record["compactions"]}
        recovered = {row["after"] for row in record.get("recoveries", [])}
        self.steps = sorted(
            self.rows.keys() | self.calls.keys() | self.decisions.keys() | recovered
        )
        self.turns = {turn["message"]: turn for turn in record["turns"]}
        self.view, self.said, self.failed = [], 0, False
        self.stored, self.notes = {}, set()

    def observations(self):
        """Each observation of the record with what this audit finds there."""
        steps = iter([*self.steps, None])
        step = next(steps)
        for row in self.record["observations"]:
            while step is not None and step <= row["after"]:
                self.take(step)
                step = next(steps)
            self.say(self.conversation.length(row["after"]))
            yield row, self.seen(row)

    def say(self, length):
        for at in range(self.said, length):
            self.view.append(("kept", at))
            for fact in self.known.stated[at]:
                self.facts[fact].mentioned()
        self.said = length

    def take(self, after):
        """A decision of the session before a turn."""
        self.say(self.conversation.length(after))
        row = self.rows.get(after, {})
        if row.get("view") is not None:
            self.view = [entry for told in row["view"] for entry in self.entries(told)]
        for saved in row.get("saved", []):
            text = self.run.expanded(saved["text"], self.conversation)
            if saved["kind"] == "note":
                first, last = (
                    self.conversation.index[one] for one in saved.get("covers") or (after, after)
                )
                stated = set().union(*(self.known.stated[at] for at in range(first, last + 1)))
                self.notes |= self.known.held(text) & stated
            else:
                self.stored[saved["kind"]] = self.known.held(text)
        requested, replied = set(), set()
        for call in self.calls.get(after, ()):
            if call.get("request"):
                requested |= self.known.held(self.run.expanded(call["request"], self.conversation))
                if call.get("reply"):
                    replied |= self.known.held(self.run.texts[call["reply"]])
        original, written = self.holds()
        stored = set().union(*self.stored.values())
        for fact, one in enumerate(self.facts):
            one.changed(
                *(
                    fact in found
                    for found in (original, written, stored, self.notes, requested, replied)
                )
            )
        decision = self.decisions.get(after)
        if decision == "applied":
            self.compacted_at = self.conversation.length(after)
            self.failed = False
        elif decision == "failed":
            self.failed = True

    def entries(self, told):
        if isinstance(told, list):
            first, last = (self.conversation.index[one] for one in told)
            return [("kept", at) for at in range(first, last + 1)]
        text, at, parts = self.run.texts.get(told["text"], ""), 0, []
        for origin, length in told["parts"]:
            parts.append((origin, text[at : at + length]))
            at += length
        return [("written", told["role"], parts)]

    def holds(self):
        """The facts in originals, and those in what was written."""
        original, written = set(), set()
        for entry in self.view:
            if entry[0] == "kept":
                for text in self.conversation.texts[entry[1]]:
                    original |= self.known.held(text) & self.known.stated[entry[1]]
                continue
            for origin, text in entry[2]:
                if isinstance(origin, dict) and "spoken" in origin:
                    original |= (
                        self.known.held(text)
                        & self.known.stated[self.conversation.index[origin["spoken"]]]
                    )
                elif origin != "filler":
                    written |= self.known.held(text)
        return original, written

    def seen(self, row):
        length = self.conversation.length(row["after"])
        fates = []
        for fact, one in enumerate(self.facts):
            ended = self.known.until[fact] is not None and self.known.until[fact] < length
            fates.append("." if not one.stated else "x" if ended else one.letter())
        if not self.has_requests:
            fates = ["l" if fate in "due" else fate for fate in fates]
        stored = {
            fact for fact, one in enumerate(self.facts) if fates[fact] in "duel" and one.is_stored()
        }
        eligible, unsure = self.eligible(length, row)
        found = self.bindings() if self.known.subjects else set()
        bound, misbound = set(), {}
        for fact in eligible | set(row["eligible"]):
            if self.known.subjects and fact in self.known.named:
                if fates[fact] in "vc" and (fact, self.known.subject(fact)) in found:
                    bound.add(fact)
                rivals, weight = self.known.rivals(fact, length)
                wrong = len({subject for of, subject in found if of == fact} & rivals)
                if wrong:
                    misbound[fact] = wrong, weight
        return {
            "fates": fates,
            "stored": stored,
            "eligible": eligible,
            "unsure": unsure,
            "bound": bound,
            "misbound": misbound,
            "unusable": self.unusable(row, length),
            "chance": {} if row["kind"] == "use" else self.chance(row, length),
            "uses": [self.use(fact, length, fates) for fact in row.get("used", [])],
            "needed": self.needed(row, length, fates),
        }

    def use(self, fact, length, fates):
        """Whether a use is one of an address, and whether what the last compaction left holds its value."""
        is_held = fates[fact] in "vc" or self.known.uses.is_named(
            fact, self.view, self.compacted_at
        )
        return self.known.uses.is_address(length, fact), is_held

    def needed(self, row, length, fates):
        """The uses of old values: by fact, whether it is one of an address and whether the context holds the value."""
        if row["kind"] == "compaction":
            return {}
        told = {use["fact"] for use in row.get("needed", [])}
        old = self.old_uses(length)
        return {
            fact: self.use(fact, length, fates) for fact in sorted(told if old is None else old)
        }

    def old_uses(self, length):
        """The facts that the next message uses and that were last mentioned before the latest compaction of all rows; nothing if it is not
        known when that was."""
        if length >= len(self.conversation.messages):
            return []
        if not self.is_recorded and self.moments is None:
            return None
        cut = max((moment for moment in self.moments or () if moment <= length), default=0)
        using = self.conversation.messages[length]["id"]
        return [
            fact
            for fact, told in enumerate(self.conversation.facts)
            if using in told.get("used_at", ())
            and (stated := self.stated_before(fact, length))
            and (self.is_distant(stated[-1], length) if self.is_recorded else stated[-1] < cut)
        ]

    def stated_before(self, fact, length):
        """Where a fact was mentioned that may be looked for at a point: none if it does not count there."""
        stated = [mention for mention in self.known.mentions[fact] if mention < length]
        ended = self.known.until[fact] is not None and self.known.until[fact] < length
        is_decoy = self.conversation.facts[fact].get("decoy_of")
        return [] if ended or is_decoy or self.outside(length) & set(stated) else stated

    def outside(self, length):
        """The messages whose values no compaction can lose."""
        pending = self.conversation.pending(length)
        if self.is_recorded:
            # A program may drop a request that is still open.
            pending = {at for at in pending if not self.is_distant(at, length)}
        return pending | {
            at for at in range(length) if self.conversation.messages[at]["role"] == "system"
        }

    def is_distant(self, mention, length):
        """Whether a mention is far enough from a point: a trigger's length, or before the last recorded compaction."""
        if not self.is_recorded:
            return self.tokens.is_distant(mention, length, self.trigger)
        cut = self.conversation.last_compaction(length)
        return (
            cut is not None and mention < cut and mention not in self.conversation.kept_pending(cut)
        )

    def bindings(self):
        found = set()
        for entry in self.view:
            texts = (
                self.conversation.texts[entry[1]]
                if entry[0] == "kept"
                else [text for _, text in entry[2]]
            )
            for text in texts:
                found |= self.known.bound(text)
        return found

    def eligible(self, length, row):
        """The headline set, and the facts for which the records do not say whether the distance is enough."""
        if row["kind"] == "use":
            return set(), set()
        eligible, unsure = set(), set()
        for fact, told in enumerate(self.conversation.facts):
            stated = [] if told.get("generic") else self.stated_before(fact, length)
            if not stated:
                continue
            is_distant = self.is_distant(stated[-1], length)
            if is_distant is None:
                unsure.add(fact)
            if is_distant or (is_distant is None and fact in row["eligible"]):
                eligible.add(fact)
        return eligible, unsure

    def unusable(self, row, length):
        """Whether the context counts as empty."""
        turn = (
            self.turns.get(self.conversation.messages[length]["id"])
            if length < len(self.conversation.messages)
            else None
        )
        told = row.get("unusable")
        over = (
            turn["input"] > self.record["case"]["budget"]["window"]
            if turn
            else told == "over_window"
        )
        return (
            "over_window"
            if over and self.record["case"]["strategy"] != "full"
            else "compaction_failed"
            if self.failed
            else None
        )

    def chance(self, row, length):
        """Foreign facts in inserted text and in old originals, by value kind: matches and pairs."""
        found = set()
        if self.is_recorded:
            cut = self.conversation.last_compaction(length)
            old = set(range(self.conversation.kept_batch(cut))) if cut is not None else set()
        else:
            old = [at for at in range(length) if self.tokens.is_distant(at, length, self.trigger)]
            old = set(range(old[-1] + 1)) if old else set()
        for entry in self.view:
            if entry[0] == "kept":
                if entry[1] in old and self.conversation.messages[entry[1]]["role"] != "system":
                    found |= set().union(
                        *map(self.known.of_foreign, self.conversation.texts[entry[1]]), ()
                    )
                continue
            for origin, text in entry[2]:
                spoken = isinstance(origin, dict) and "spoken" in origin
                if origin == "filler" or (
                    spoken
                    and (
                        entry[1] == "system" or self.conversation.index[origin["spoken"]] not in old
                    )
                ):
                    continue
                found |= self.known.of_foreign(text)
        cells = {}
        for fact, kind in enumerate(self.known.foreign_kinds):
            hits, pairs = cells.get(kind, (0, 0))
            cells[kind] = hits + (fact in found), pairs + 1
        return cells
