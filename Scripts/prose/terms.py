"""What `prose-check` looks for. Each row: a regular expression, and what to write instead."""

import re

LONGEST_LINE = 120
LONGEST_SENTENCE = 35

# Phrases that hide a clearer sentence.
PHRASES = [
    (r"nobody(?:'s)?", "name who doesn't, such as `no customer`"),
    (r"who(?:so|m)?ever", "`anyone who`, or name who"),
    (r"whose", "`with` or `of`, or a sentence of its own"),
    (r"(?:is|are|was|were|be|been) told", "name who reports what to whom"),
    (r"sa(?:ys?|id) of", "`says about`, or the fact itself"),
    (r"stands?|stood", "`is`, `has`, or the place"),
    (r"(?:is|are|was|were) none", "`doesn't exist`, `is missing` or `isn't one`"),
    (r"go(?:es)? by", "`uses`"),
    (r"in words", "the fact itself"),
    (r"by the day", "name the limit"),
    (r"of (?:its|their|his|her|our|your|one's) own", "`its own X`, or `separate`"),
    (r"at the door", "name where"),
    (r"be had", "`be read`, `be fetched` or `exist`"),
    (r"for good", "`permanently` or `lifetime`"),
    (r"anew", "`again`"),
]

# Old names, and the glossary's "Not" column where the word has one meaning left.
WORDS = [
    (r"settlements?", "next steps"),
    (r"certificate keys?", "signing key"),
    (r"acts? of support", "grant or revocation"),
    (r"(?:the|its|a) record(?:'s)?", "database"),
    (r"ledgers?", "database, or history"),
    (r"desks?", "handlers or routes"),
    (r"recollections?", "stored state"),
    (r"patience", "timeout"),
    (r"slack", "tolerance"),
    (r"spoilt", "corrupted"),
    (r"v1/keys", "`/.well-known/jwks.json`"),
]

# British spellings of words that occur here.
SPELLINGS = [
    (r"(hon|fav|col|behavi|neighb|lab)our(\w*)", "or"),
    (r"licence(s?)", "license"),
    (r"catalogue(\w*)", "catalog"),
    (r"(?:cancell|labell|modell|travell)(?:ed|ing)", "a single l"),
    (r"(?:organi|recogni|initiali|seriali|normali|synchroni|authori|summari|minimi|optimi)s(?:e[sd]?|ing|ation)", "z"),
    (r"(?:centre|grey|judgement|whilst|artefact)(?:s|d)?", "American spelling"),
]

# Words of identifiers and of SQL that no name has any more, and the new name.
NAMES = {
    "ledger": "DatabaseTransaction", "desk": "handlers", "shelf": "PolicyCache", "book": "ActivePolicy",
    "board": "CustomerState", "recollection": "StoredState", "arrival": "SyncArtifact",
    "arrivals": "SyncArtifact", "bond": "LinkedArtifacts", "bonds": "LinkedArtifacts",
    "membership": "LinkedArtifacts", "amendment": "CustomerUpdate", "announced": "SentEntitlements, or compared",
    "announce": "compareEntitlements, or register", "announcer": "WebhookScheduler", "announcement": "EntitlementChange",
    "announcements": "EntitlementChange",
    "visit": "unbound customer", "visitor": "unbound customer", "finder": "unbound customer",
    "world": "AppStoreState", "act": "operation, or grant and revocation", "acts": "operations",
    "particulars": "parameters", "particular": "parameter", "asker": "DeviceRequest",
    "courier": "NotificationSender", "founding": "JournalHeader", "judge": "evaluator", "judging": "evaluating",
    "slack": "tolerance", "patience": "timeout, or RetryPolicy", "spoilt": "corrupted", "trouble": "fault",
    "settlement": "nextSteps", "settlements": "nextSteps", "honour": "honor", "honours": "honors",
    "parting": "splitting", "favour": "favor", "colour": "color", "behaviour": "behavior", "licence": "license",
    "catalogue": "catalog",
}

# `record` is left out: as a verb and for one entry it stays.
TERMS = PHRASES + WORDS
PROSE = re.compile(
    "|".join(rf"(?P<t{n}>(?<![\w/.-])(?:{pattern})(?![\w-]))" for n, (pattern, _) in enumerate(TERMS)), re.IGNORECASE)
SPELLING = re.compile("|".join(rf"(?P<s{n}>\b(?:{pattern})\b)" for n, (pattern, _) in enumerate(SPELLINGS)), re.IGNORECASE)
