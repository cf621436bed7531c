"""Hide keys and passwords before anything is written. They are recognised by their name, by their form, or by value.

When in doubt, a value is hidden: a missing parameter is a nuisance, a leaked password a disaster.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote, unquote

HIDDEN = "***"
_LOGIN_OPTIONS = ("-u", "--user", "--proxy-user", "-U")  # of curl: USER:PASSWORD
_WORTH_KNOWING = 8  # characters; shorter values are hidden where they occur, but not searched for elsewhere

# Words that make a name secret, anywhere in it: API_KEY, apiKey, db-password, X-Auth-Token.
_SECRET_WORDS = frozenset(
    [
        *("key", "keys", "apikey", "apikeys", "accesskey", "authkey", "privatekey", "secretkey"),
        *("token", "tokens", "secret", "secrets", "auth", "authorization", "bearer", "jwt", "cookie"),
        *("password", "passwords", "passwd", "passphrase", "passcode", "pwd", "pw", "pass", "pgpassword"),
        *("credential", "credentials", "signature", "sig", "sas", "webhook", "webhooks"),
    ]
)
_SECRET_ENDS = ("token", "secret", "password", "passwd", "passphrase", "sessionid", "sessid")  # accesstoken, PHPSESSID
_SECRET_ALONE = frozenset(
    {"code", "session", "sid", "otp", "pin", "hmac"}
)  # secret as a whole name: ?code=, but not code_version=
_COUNTED = frozenset({"tokens", "token", "keys", "key", "pass", "code", "session"})  # max_tokens=512 is not a secret
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")

_SHAPES = (
    r"sk-[\w-]{8,}",  # OpenAI, Anthropic and many others
    r"[sprw]k_(?:live|test)_\w{8,}",  # Stripe
    r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{12,}",  # Amazon
    r"gh[pousr]_\w{16,}|github_pat_\w{16,}",
    r"glpat-[\w-]{16,}",
    r"hf_[A-Za-z0-9]{16,}",
    r"xox[abeprs]-[\w-]{10,}",  # Slack
    r"AIza[\w-]{30,}|ya29\.[\w.-]{20,}",  # Google
    r"(?:npm|pat|dop_v1|shpat|dapi|ntn|secret)_?[A-Fa-f0-9]{32,}",
    r"pypi-[\w-]{16,}",
    r"SG\.[\w-]{16,}\.[\w-]{16,}",  # SendGrid
    r"pcsk_\w{8,}",  # Pinecone
    r"(?:gsk|jina|r8|hv[bs]|xai|pplx|nvapi|dckr_pat|lin_api|tvly|glptt|GOCSPX)[_.-][\w-]{16,}",
    r"bot\d{5,}:[\w-]{8,}",  # Telegram
    r"eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?",  # JSON Web Token
)
_SHAPE = re.compile("|".join(rf"(?<![A-Za-z0-9])(?:{shape})" for shape in _SHAPES))
_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z)",
    re.DOTALL,
)
# Each pattern begins where a word does, so that no text, however long, takes more than one pass.
_SCHEME = r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]*://"
_USER_INFO = re.compile(rf"(?P<scheme>{_SCHEME})(?P<user>[^/?#\s]*)@")  # up to the last @: passwords may contain one
_LOGIN = re.compile(
    r"(?<![\w.+-])(?P<user>[\w.+-]+:[^\s/@:]+)@(?=[\w-]+(?:\.[\w-]+|[:/]))"
)  # without a scheme: ann:pw@host/x
_WEBHOOK = re.compile(
    r"(?P<place>https?://(?:[^\s/]*?hook[^\s/]*/|[^\s/]*/(?:[^\s/]+/)*?[\w-]*hook[\w-]*/))[^\s\"']+", re.IGNORECASE
)
_QUOTED = r'"(?:[^"\\]|\\.)*"|\'[^\']*\''
_OPTION = re.compile(
    rf"(?P<name>(?<![\w-])--?[A-Za-z][\w-]*)(?P<blank>[\"']?,?\s+)(?P<value>(?!-)(?:{_QUOTED}|[^\s\"']\S*))"
)
_GLUED_LOGIN = re.compile(r"(?P<name>(?<!\S)(?:-[uU]|--(?:proxy-)?user=))(?P<user>[^\s:]*:\S+)")  # curl -uann:pw
_GLUED_PASSWORD = re.compile(r"(?P<start>\b(?:sshpass|mysql\w*|mariadb\w*)\b[^\n]{0,200}?\s-p\s*)(?P<value>[^\s-]\S*)")
_ADDRESS = re.compile(rf"{_SCHEME}\S+|(?<!\S)\S*?%3A%2F%2F\S+", re.IGNORECASE)
_BEARER = re.compile(r"(?P<word>\b(?:bearer|basic)\s+)(?=\S*\d|\S{20,})[\w.~+/=-]{8,}", re.IGNORECASE)
_SAID = re.compile(
    r"(?P<word>\b(?:pass(?:word|phrase|wd)|pwd|token|secret|(?:api|access)[ _-]?key)\s+(?:(?:is|was|->|=>|:=)\s+)?)"
    r"(?P<value>(?=\S*\d)(?=\S*[A-Za-z])[^\s\"'{}]{6,})",
    re.IGNORECASE,
)  # in a sentence: the password is hunter2
_NAME = re.compile(r"(?<![\w.-])(?P<name>[\w.-]+)\\*[\"']?\s*[=:]\s*")
_ESCAPED = r"(?P<escape>\\+)(?P<mark>[\"']).*?(?P=escape)(?P=mark)"  # in JSON within JSON
_VALUE = re.compile(
    rf"(?!//)(?:(?:bearer|basic)\s+)?(?:{_QUOTED}|{_ESCAPED}|(?:(?!&[\w.-]+=)[^\s\"'{{}}])+)", re.IGNORECASE
)
_PAIR_WITHOUT_BLANKS = re.compile(r"(?<![\w.%-])[\w.%-]+=[^\s\"']+")  # in a message of ours, `name: text` is no pair
_DEEPEST = 4  # times that a text may be percent-encoded
_LINE_PAIR = re.compile(r"(?P<start>[ -]*)(?P<name>[^: -][^:]*):(?P<value>.*)")
_WHOLE_PAIR = re.compile(r"(?P<name>-{0,2}[\w.-]+)(?P<sign>\s*[=:]\s*)(?P<value>.+)", re.DOTALL)


def is_secret_name(name: str, value: str = "") -> bool:
    """Whether a name marks its value as secret.

    >>> [is_secret_name(name) for name in ("OPENAI_API_KEY", "apiKey", "X-Auth-Token", "keyword", "tokenizer")]
    [True, True, True, False, False]
    >>> is_secret_name("max_tokens", "512")
    False
    """
    words = {word.casefold() for word in _PARTS.findall(name)}
    found = {word for word in words if word in _SECRET_WORDS or word.endswith(_SECRET_ENDS)}
    found |= {name.casefold().strip("-")} & _SECRET_ALONE
    is_count = value.isdecimal() and len(value) < 6 and found <= _COUNTED
    return bool(found) and not is_count


class Secrets:
    """Hides secrets, and remembers them.

    A value once seen with a secret name is hidden everywhere else too.

    >>> secrets = Secrets()
    >>> secrets.hide_command(["assay", "--api-key", "hunter2-hunter2", "--set", "k=60"])
    ('assay', '--api-key', '***', '--set', 'k=60')
    >>> secrets.hide("see https://ann:pw@example.org/?q=1 with hunter2-hunter2")
    'see https://***@example.org/?q=1 with ***'
    """

    def __init__(self, known: Iterable[str] = ()) -> None:
        self._known = set(known)

    def learn(self, value: str) -> None:
        """Hide this value from now on, in every usual encoding, unless it is too short to search for."""
        bare = value.strip().strip("\\\"'")
        bare = re.sub(r"^(?:bearer|basic)\s+", "", bare, flags=re.IGNORECASE)
        if len(bare) >= _WORTH_KNOWING and bare != HIDDEN:
            self._known |= {form for form in _encodings(bare) if len(form) >= _WORTH_KNOWING}

    def hide_command(self, arguments: Sequence[str]) -> tuple[str, ...]:
        """A command line without its secrets: `--api-key VALUE`, `--api-key=VALUE`, `NAME=VALUE`, `Name: value`."""
        shown: list[str] = []
        value_follows = False
        for argument in arguments:
            if value_follows:
                self.learn(argument)
            shown.append(HIDDEN if value_follows else self.hide_argument(argument))
            value_follows = _is_scheme(argument) or (not value_follows and _announces_secret(argument))
        return tuple(self.hide(argument) for argument in shown)  # again: later arguments may have revealed secrets

    def hide_argument(self, argument: str) -> str:
        """One argument; if it is a pair with a secret name, everything after the name is hidden."""
        pair = _WHOLE_PAIR.fullmatch(argument)
        if pair is None:
            return self.hide(argument)
        name, sign, value = pair["name"], pair["sign"], pair["value"]
        if is_secret_name(name, value) and not value.startswith("//"):  # auth://host is an address, not a pair
            self.learn(value)
            return f"{name}{sign}{HIDDEN}"
        if name.startswith("-"):  # --set=api_key=...
            return f"{name}{sign}{self.hide_argument(value)}"
        return self.hide(argument)

    def hide(self, text: str) -> str:
        """A text without its secrets; decoded, if that shows a secret."""
        hidden = plain = self._hide_in_plain(text)
        for _ in range(_DEEPEST):
            if "%" not in plain:
                break
            plain = unquote(plain, errors="surrogateescape")
            found = self._hide_in_plain(plain)
            if found != plain:
                hidden = plain = found
        return hidden

    def _hide_in_plain(self, text: str) -> str:
        text = _PRIVATE_KEY.sub(HIDDEN, text)
        text = _WEBHOOK.sub(rf"\g<place>{HIDDEN}", text)
        text = _USER_INFO.sub(self._without_user, text)
        text = _LOGIN.sub(self._without_login, text)
        text = _GLUED_LOGIN.sub(self._without_glued_login, text)
        text = _GLUED_PASSWORD.sub(rf"\g<start>{HIDDEN}", text)
        text = _OPTION.sub(self._without_option, text)
        text = self._without_pairs(text)
        text = _BEARER.sub(rf"\g<word>{HIDDEN}", text)
        text = _SAID.sub(self._without_what_is_said, text)
        return self.hide_known(_SHAPE.sub(HIDDEN, text))

    def hide_known(self, text: str) -> str:
        """A text without the values that were learnt, and otherwise as it is."""
        for value in sorted(self._known, key=len, reverse=True):
            text = text.replace(value, HIDDEN)
        return text

    def hide_in_message(self, text: str) -> str:
        """A message of ours, whose own words are no secrets: what it quotes shows none.

        >>> Secrets().hide_in_message("key: https://ann:pw@example.org/x: no such file")
        'key: https://***@example.org/x: no such file'
        """
        text = _ADDRESS.sub(lambda found: self.hide(found[0]), text)
        text = _LOGIN.sub(self._without_login, text)
        text = _OPTION.sub(self._without_option, text)
        text = _PAIR_WITHOUT_BLANKS.sub(lambda found: self.hide(found[0]), text)
        return self.hide_known(_SHAPE.sub(HIDDEN, _BEARER.sub(rf"\g<word>{HIDDEN}", text)))

    def hide_value(self, name: str, value: str) -> str:
        """A named value: completely hidden if the name is secret."""
        if is_secret_name(name, value):
            self.learn(value)
            return HIDDEN
        return self.hide(value)

    def hide_pairs(self, pairs: Mapping[str, str]) -> dict[str, str]:
        """Named values without their secrets."""
        return {self.hide(name): self.hide_value(name, value) for name, value in pairs.items()}

    def hide_all(self, value: Any, name: str = "") -> Any:
        """Nested mappings and lists without their secrets; numbers are hidden only if their name is secret."""
        if isinstance(value, str):
            return self.hide_value(name, value)
        if isinstance(value, Mapping):
            return {self.hide(str(key)): self.hide_all(inner, str(key)) for key, inner in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.hide_all(inner, name) for inner in value]
        if value is not None and not isinstance(value, bool) and is_secret_name(name, str(value)):
            return HIDDEN
        return value

    def hide_block(self, text: str) -> str:
        """A text of `name: value` lines; a secret name's value is hidden on its line and on indented lines below it."""
        shown: list[str] = []
        deeper_than: int | None = None
        for line in text.split("\n"):
            indent = len(line) - len(line.lstrip(" -"))
            if deeper_than is not None and (indent > deeper_than or not line.strip()):
                self.learn(line)
                continue
            pair = _LINE_PAIR.fullmatch(line)
            hidden = pair is not None and is_secret_name(pair["name"], pair["value"].strip())
            deeper_than = indent if hidden else None
            if pair is None or not hidden:
                shown.append(line)
                continue
            self.learn(pair["value"])
            shown.append(f"{pair['start']}{pair['name'].rstrip()}: {HIDDEN}")
        return self.hide("\n".join(shown))

    def _without_user(self, found: re.Match[str]) -> str:
        self.learn(found["user"].partition(":")[2])
        return f"{found['scheme']}{HIDDEN}@"

    def _without_login(self, found: re.Match[str]) -> str:
        self.learn(found["user"].partition(":")[2])
        return f"{HIDDEN}@"

    def _without_glued_login(self, found: re.Match[str]) -> str:
        self.learn(found["user"].partition(":")[2])
        return f"{found['name']}{HIDDEN}"

    def _without_what_is_said(self, found: re.Match[str]) -> str:
        self.learn(found["value"])
        return f"{found['word']}{HIDDEN}"

    def _without_option(self, found: re.Match[str]) -> str:
        """`--password VALUE` or `-u USER:PASSWORD` within a text."""
        name, value = found["name"], found["value"]
        if not (is_secret_name(name, value) or (name in _LOGIN_OPTIONS and ":" in value)):
            return found[0]
        self.learn(value.partition(":")[2] if name in _LOGIN_OPTIONS else value)
        return f"{name}{found['blank']}{HIDDEN}"

    def _without_pairs(self, text: str) -> str:
        """A text with the values of secret names hidden, up to a space or the closing quote."""
        parts, done = [], 0
        for found in _NAME.finditer(text):
            if found.start() < done or not is_secret_name(found["name"]):
                continue  # before its value is looked at, which may be long
            value = _VALUE.match(text, found.end())
            if value is not None and is_secret_name(found["name"], value[0]):
                self.learn(value[0])
                parts += [text[done : found.end()], HIDDEN]
                done = value.end()
        return "".join([*parts, text[done:]])


def _announces_secret(argument: str) -> bool:
    """Whether the next argument is a secret: after `--api-key`, `-u`, `Authorization:` or `token =`."""
    name = argument.strip("\"'{")
    if name.endswith((":", "=")):
        return is_secret_name(name.rstrip(":=\"'"))
    is_option = argument.startswith("-") and "=" not in argument
    return argument in _LOGIN_OPTIONS or (is_option and is_secret_name(argument))


def _is_scheme(argument: str) -> bool:
    return argument.strip("\"'").casefold() in ("bearer", "basic")


def _encodings(secret: str) -> set[str]:
    """A secret as it is written in addresses, in JSON and in headers."""
    plain = unquote(secret, errors="surrogateescape")
    encoded = b64encode(plain.encode("utf-8", "surrogatepass")).decode().rstrip("=")
    return {secret, plain, quote(plain, safe="", errors="surrogatepass"), json.dumps(plain)[1:-1], encoded}
