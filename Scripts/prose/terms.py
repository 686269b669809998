"""What `prose-check` looks for. Each row: a regular expression, and what to write instead."""

import functools
import re

CAMEL = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")

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
    (r"(?:is|are|was|were) (?!(?-i:None))none", "`doesn't exist`, `is missing` or `isn't one`"),
    (r"go(?:es)? by", "`uses`"),
    (r"in words", "the fact itself"),
    (r"by the day", "name the limit"),
    (r"of (?:its|their|his|her|our|your|one's) own", "`its own X`, or `separate`"),
    (r"at the door", "name where"),
    (r"be had", "`be read`, `be fetched` or `exist`"),
    (r"for good", "`permanently` or `lifetime`"),
    (r"anew", "`again`"),
]

# Old names, and the glossary's "Not" column where the word has one meaning left. Code spans are compared with them too.
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
    (r"couriers?", "notification sender"),
    (r"memberships?|bonds?", "linked artifacts"),
    (r"shelf|shelves|boards?", "cache, store or state"),
    (r"visits?|visitors?", "unbound customer"),
    (r"troubles?", "fault, or failure"),
    (r"worlds?", "state of the local App Store"),
    (r"policy keys?", "policy signing key"),
    (r"deadlines? of (?:its|their) own", "timeout"),
    (r"tenure appstore", "`tenure local-store`, or `tenure app-store`"),
    (r"tenure record", "`tenure database`"),
    (r"tenure key", "`tenure admin-key`"),
    (r"local-store trouble", "`tenure local-store fault`"),
    (r"--world", "`--scenario`"),
]
# In addresses too, where the words above are part of another's name.
PATHS = [
    (r"(?<!admin)/v1/keys", "`/.well-known/jwks.json`"),
    (r"Docs/[Dd]ecisions/", "`Docs/adr/`"),
]

# British spellings: each matches a whole word of prose, or one lower-case word of an identifier.
OUR = ("arb ard arm behavi cand clam col demean endeav fav ferv flav harb hon hum lab neighb od parl ranc rig rum sav "
       "splend tum val vap vig").replace(" ", "|")
SPELLINGS = [
    (rf"(?:dis|un)?(?:{OUR})our(?:s|ed|ing|able|ably|ful|less|ites?|al|ally|ers?|hoods?|ly|ings?)?", "-or"),
    (r"(?P<stem>\w+)is(?:e[srd]?|ers|ing|able|ations?)", "-ize"),
    (r"(?:anal|paral|catal|electrol)ys(?:e|ed|er|ers|ing)", "-yze"),
    (r"\w*(?:cance|channe|counse|dia|equa|fue|initia|labe|leve|marsha|mode|quarre|signa|tota|trave|tunne)"
     r"ll(?:ed|ing|ings|er|ers|or|ors)", "a single l"),
    (r"(?:fulfil|enrol|distil|appal)(?:s|ments?)?|instalments?|skilful(?:ly)?|wilful(?:ly)?", "-ll"),
    (r"\w*(?:lic|def|off|pret)ence[sd]?", "-ense"),
    (r"practis(?:e[sd]?|ing)", "practice"),
    (r"(?:catalogu|analogu)(?:es?|ed|er|ing)", "-og"),
    (r"(?:cent|kilomet|millimet|centimet|met|lit|theat|fib|calib|spect|lust)re[sd]?", "-er"),
    (r"(?:mis|re|un)?spelt|learnt|burnt|dreamt|spoilt|leant|afterwards|towards|whilst|amongst"
     r"|grey(?:s|ed|ish|scale)?|programmes?|(?:acknowledg|judg)ements?|artefacts?|ageing|focuss(?:ed|ing)|cheques?|sceptic(?:al|ism)?|enquir(?:y|ies)"
     r"|manoeuvre[sd]?|tyres?|moulds?|ploughs?|cosy|maths|storeys|aluminium", "the American word"),
]
# What comes before -ise, -ised, -ising and so on in America too.
ISE = set("adv advert appra ar bitw bru bytew chast circumc clockw comprom compr conc cr cru d dem desp dev disgu "
          "elementw enterpr exc exerc expert franch improv inc la likew merchand mo no otherw pairw parad po pra prec prem "
          "prom r ra recomprom rephra stepw superv surm surpr telev treat unra unw upra v w".split())
# Names of Apple, of Swift and of libraries.
THEIRS = {"isCancelled", "userCancelled", "customerCancelled", "NSURLErrorCancelled"}

# Words of identifiers and of SQL that no name has any more, also with a plural's s, and the new name.
NAMES = {
    "ledger": "DatabaseTransaction", "desk": "handlers", "shelf": "PolicyCache", "shelves": "PolicyCache",
    "book": "ActivePolicy", "bookshelf": "PolicyCache",
    "board": "CustomerState", "recollection": "StoredState", "recollect": "StoredState", "arrival": "SyncArtifact",
    "bond": "LinkedArtifacts", "membership": "LinkedArtifacts", "amendment": "CustomerUpdate", "amend": "update",
    "announced": "SentEntitlements, or compared", "announce": "compareEntitlements, or register",
    "announcing": "comparing, or registering", "announcer": "WebhookScheduler", "announcement": "EntitlementChange",
    "visit": "unbound customer", "visitor": "unbound customer", "visited": "unbound customer",
    "finder": "unbound customer", "world": "AppStoreState", "act": "operation, or grant and revocation",
    "particular": "parameter", "asker": "DeviceRequest", "courier": "NotificationSender", "founding": "JournalHeader",
    "judge": "evaluator", "judging": "evaluating", "slack": "tolerance", "patience": "timeout, or RetryPolicy",
    "spoilt": "corrupted", "trouble": "fault", "settlement": "nextSteps", "parting": "splitting",
}
# The same for several words in a row, or for a name in one place of an identifier.
COMPOUNDS = [
    (r"[cC]ertificateKeys?(?![a-z])", "signingKey, or tlsKey"),
    (r"^policyKeys?(?![a-z])", "policySigningKey"),
    (r"^Notices?(?![a-z])", "CustomerState"),
]
# `record` has other meanings in Swift, but no table has this name.
TABLES = {"record": "the database, or the name of the table"}


# A space of a phrase may be the end of a line. `record` alone is left out: as a verb and for one entry it stays.
def joined(rows, before):
    rows = [(pattern.replace(" ", r"\s+"), instead) for pattern, instead in rows]
    words = "|".join(rf"(?P<t{n}>{pattern})" for n, (pattern, _) in enumerate(rows))
    return re.compile(rf"{before}(?:{words})(?![\w-])", re.IGNORECASE)


TERMS = PHRASES + WORDS
PROSE = joined(TERMS, r"(?<![\w/.-])")
SPANS = joined(WORDS, r"(?<![\w/.-])")
ANYWHERE = joined(PATHS, "")
SPELLING = [(re.compile(pattern), instead) for pattern, instead in SPELLINGS]
COMPOUND = [(re.compile(pattern), instead) for pattern, instead in COMPOUNDS]


@functools.cache
def spelling(word):
    """How America spells this word, if not like this."""
    for pattern, instead in SPELLING:
        match = pattern.fullmatch(word)
        if match and match.groupdict().get("stem", "") not in ISE:
            return f"the American spelling: {instead}"
    return None


@functools.cache
def name(identifier, is_sql=False):
    """What to call this instead, if an identifier has an old or British word."""
    if identifier in THEIRS:
        return None
    for pattern, instead in COMPOUND:
        if pattern.search(identifier):
            return f"an old name; now {instead}"
    for word in map(str.lower, CAMEL.findall(identifier)):
        old = NAMES.get(word) or NAMES.get(word.removesuffix("s")) or is_sql and TABLES.get(word.removesuffix("s"))
        if old:
            return f"an old name; now {old}"
        if spelling(word):
            return spelling(word)
    return None
