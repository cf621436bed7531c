"""Keys and passwords are hidden, and other text is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.secrets import HIDDEN, Secrets, is_secret_name

TOKENS = st.text("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", min_size=12, max_size=40)


@pytest.mark.parametrize(
    "name",
    [
        *("key", "api_key", "API-KEY", "apiKey", "OPENAI_API_KEY", "apikey", "--api-key", "aws.secretAccessKey"),
        *("token", "X-Auth-Token", "accesstoken", "access_tokens", "HF_TOKEN", "jwt"),
        *("secret", "client_secret", "clientsecret", "SECRETS"),
        *("password", "db_password", "PGPASSWORD", "dbPassword", "passwd", "pwd", "pass", "passphrase"),
        *("Authorization", "Proxy-Authorization", "auth", "credentials", "AWS_CREDENTIAL", "cookie"),
    ],
)
def test_names_that_are_kept_to_oneself(name):
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name",
    [
        *("keyword", "monkey", "hockey", "turkey", "keystone", "keys2keyword"[5:]),
        *("tokenizer", "tokenization", "secretary", "passage", "passages", "compass", "bypass", "author", "authority"),
        *("model", "dataset", "k", "b", "k1", "index.passages", "run", "nDCG@10", "pwdist", ""),
    ],
)
def test_names_that_are_not(name):
    assert not is_secret_name(name)


@pytest.mark.parametrize("name", ["max_tokens", "tokens", "token_limit", "pass", "key"])
def test_a_small_number_is_a_count_not_a_secret(name):
    assert not is_secret_name(name, "512")
    assert is_secret_name(name, "5123987")
    assert is_secret_name(name, "abc")


def test_a_short_number_as_a_password_is_still_one():
    assert is_secret_name("password", "1234")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        # by their name
        ("api_key=abc", "api_key=***"),
        ("api_key: abc", "api_key: ***"),
        ("token = 'a b c' and more", "token = *** and more"),
        ('{"password": "a b c", "b": 1}', '{"password": ***, "b": 1}'),
        ('{"password": "a\\"b", "b": 1}', '{"password": ***, "b": 1}'),
        ("export HF_TOKEN=abc; ls", "export HF_TOKEN=*** ls"),
        ("Authorization: Bearer abc", "Authorization: ***"),
        ("authorization: Basic dXNlcjpwYXNz", "authorization: ***"),
        ("header: Authorization: abc", "header: Authorization: ***"),
        ("password=a:b=c,d", "password=***"),
        ("x?api_key=abc&k=60", "x?api_key=***&k=60"),
        ("x?password=a&b&k=60", "x?password=***&k=60"),
        ("path/token=abc/run.txt", "path/token=***"),
        ("pw=hunter2", "pw=***"),
        ("https://h/x?sig=abc&k=60", "https://h/x?sig=***&k=60"),
        ("https://h/x?X-Amz-Signature=a1&X-Amz-Credential=b2", "https://h/x?X-Amz-Signature=***&X-Amz-Credential=***"),
        ("https://h/back?code=4/0Ab&state=1", "https://h/back?code=***&state=1"),
        ("session=9f8e7d", "session=***"),
        ("tool --password hunter2 go", "tool --password *** go"),
        ("curl -u ann:hunter2 x", "curl -u *** x"),
        # by their position
        ("runs/ann:pw@host/x.run", "runs/***@host/x.run"),
        ("ann:pw@db.example.org:5432", "***@db.example.org:5432"),
        ("https://hooks.example.com/services/T0/B0/abc", "https://hooks.example.com/***"),
        ("https://chat.example.com/api/webhooks/1/abc", "https://chat.example.com/api/webhooks/***"),
        ("https://ann:pw@example.org/x", "https://***@example.org/x"),
        ("https://token@example.org/x", "https://***@example.org/x"),
        ("postgresql://ann:p@ss:w@rd@db:5432/x", "postgresql://***@db:5432/x"),
        ("see http://a:b@c and http://d:e@f", "see http://***@c and http://***@f"),
        ("Bearer abcdefgh1234", "Bearer ***"),
        # by their form
        ("sk-abcdefgh", "***"),
        ("pcsk_4abcdEFGH", "***"),
        ("sk-ant-api03-abc_def-ghi", "***"),
        ("runs/sk-proj-12345678.run", "runs/***.run"),
        ("AKIAIOSFODNN7EXAMPLE", "***"),
        ("ghp_abcdefghijklmnopqrstuvwxyz0123456789", "***"),
        ("github_pat_11ABCDEFG0abcdefghij", "***"),
        ("glpat-abcdefghij0123456789", "***"),
        ("hf_abcdefghijABCDEFGHIJ", "***"),
        ("xoxb-123456789012-abcdef", "***"),
        ("AIzaSyA1234567890abcdefghijklmnopqrstuv", "***"),
        ("sk_live_abcdefgh12345678", "***"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl", "***"),
        ("-----BEGIN RSA PRIVATE KEY-----\nabc\ndef\n-----END RSA PRIVATE KEY-----", "***"),
        ("-----BEGIN PRIVATE KEY-----\nabc", "***"),
    ],
)
def test_secrets_are_hidden(text, shown):
    assert shown == Secrets().hide(text)


@pytest.mark.parametrize(
    "text",
    [
        "keyword=runs/keyword.run",
        "model=e5-base-v2",
        "max_tokens=512",
        "https://example.org/a@b?q=1",
        "mail ann@example.org",
        "Basic retrieval pipelines, with a bearer of news",
        "runs/task-adapted-12345678.run",
        "the risk-adjusted mean; desk-12345678",
        "nDCG@10: 0.3812 of 0.3500 (good)",
        "C:\\runs\\bm25.run",
        "auth://host/path",
        "",
        *("exit code: 3", "code_version=1.2", "--user ann", "-u 3", "ann@example.org", "k1:0.9@10", "10:30@noon"),
    ],
)
def test_what_is_no_secret_is_left_alone(text):
    assert text == Secrets().hide(text)


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["--api-key", "abc", "-m", "AP"], ["--api-key", "***", "-m", "AP"]),
        (["--api-key=abc"], ["--api-key=***"]),
        (["--password", "--odd"], ["--password", "***"]),
        (["--set", "api_key=a b c"], ["--set", "api_key=***"]),
        (["--set=api_key=abc"], ["--set=api_key=***"]),
        (["-H", "Authorization: Bearer a b c"], ["-H", "Authorization: ***"]),
        (["--set", "url=https://a:b@c/"], ["--set", "url=https://***@c/"]),
        (["keyword=runs/keyword.run", "-m", "AP"], ["keyword=runs/keyword.run", "-m", "AP"]),
        (["--token"], ["--token"]),
        ([], []),
    ],
)
def test_command_lines(arguments, shown):
    assert tuple(shown) == Secrets().hide_command(arguments)


def test_what_stood_beside_a_secret_name_is_hidden_everywhere():
    secrets = Secrets()
    shown = secrets.hide_command(["--note", "tried hunter2-hunter2", "--set", "password=hunter2-hunter2"])

    assert ("--note", "tried ***", "--set", "password=***") == shown
    assert "runs/***.run" == secrets.hide("runs/hunter2-hunter2.run")


def test_the_password_of_an_address_is_hidden_everywhere_and_its_user_only_there():
    secrets = Secrets()

    assert "ftp://***@h/ with *** of jonathan" == secrets.hide(
        "ftp://jonathan:hunter2-pw@h/ with hunter2-pw of jonathan"
    )


def test_short_values_are_hidden_at_their_place_only():
    secrets = Secrets()

    assert ("--set", "pin_secret=***") == secrets.hide_command(["--set", "pin_secret=abc"])
    assert "abcdef" == secrets.hide("abcdef")


def test_the_longer_of_two_known_values_goes_first():
    assert "*** and ***" == Secrets(["hunter22", "hunter22-long"]).hide("hunter22-long and hunter22")


def test_a_known_bearer_token_is_known_without_its_word():
    secrets = Secrets()
    secrets.hide("Authorization: Bearer abc.def-ghi")

    assert "got ***" == secrets.hide("got abc.def-ghi")


def test_named_values():
    assert {"api_key": "***", "k": "60", "url": "http://***@b/"} == Secrets().hide_pairs(
        {"api_key": "x", "k": "60", "url": "http://a@b/"}
    )


def test_nested_values_are_walked_and_numbers_stay_numbers():
    value = {
        "method": {"retrieval": [{"name": "bm25", "b": 0.4, "api": {"token": "abcdefgh"}}]},
        "passwords": ["one", "two"],
        "pin": None,
        "secret": 123456,
        "seen": "abcdefgh",
        "automatic": True,
    }

    assert {
        "method": {"retrieval": [{"name": "bm25", "b": 0.4, "api": {"token": "***"}}]},
        "passwords": ["***", "***"],
        "pin": None,
        "secret": "***",
        "seen": "***",
        "automatic": True,
    } == Secrets().hide_all(value)


@given(TOKENS, st.sampled_from(["api_key={}", "--token={}", "x&secret={}&y=1", "https://u:{}@h/", 'password: "{}"']))
def test_a_planted_secret_is_never_shown(token, place):
    assert token not in Secrets().hide(place.format(token))


@given(TOKENS, st.text(max_size=40), st.text(max_size=40))
def test_a_known_secret_is_never_shown_whatever_stands_around_it(token, before, after):
    secrets = Secrets()
    secrets.learn(token)

    assert token not in secrets.hide(before + token + after)


@given(st.text(max_size=100))
def test_hiding_twice_changes_nothing_more(text):
    once = Secrets().hide(text)

    assert once == Secrets().hide(once)


def test_hidden_is_what_reports_show():
    assert "***" == HIDDEN


def test_addresses_in_an_error_show_no_secret_and_the_rest_is_left():
    shown = Secrets().hide_in_message("key: https://ann:pw@example.org/x?sig=abc: no such file")

    assert "key: https://***@example.org/x?sig=*** no such file" == shown
