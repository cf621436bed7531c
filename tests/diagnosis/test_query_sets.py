"""Test queries against real ones: against SciPy, with planted bias, and without."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy import stats
from scipy.spatial.distance import jensenshannon

from assay import diagnose
from assay.diagnosis.model import Settings
from assay.diagnosis.query_sets import distance_and_chance, expected_new, welch_interval
from assay.diagnosis.texts import alike, jaccard, normalised, trigrams
from diagnosis.alarms import alarms, queries_from_the_traffic
from diagnosis.worlds import Shop

FEW_DRAWS = Settings(draws=200)


def look(test, production, settings=FEW_DRAWS):
    queries = {f"q{number}": text for number, text in enumerate(test)}
    qrels = {query: {"a": 1} for query in queries}
    run = {query: {"a": 1.0} for query in queries}
    return diagnose(
        qrels, {"r": run}, ["P@1"], queries=queries, production=production, only=["queries"], settings=settings
    )


# Length


def test_the_distance_is_kolmogorovs_and_the_chance_that_of_a_permutation_test():
    rng = np.random.default_rng(1)
    ours, real = rng.integers(1, 6, 40), rng.integers(1, 8, 90)

    distance, p = distance_and_chance(np.bincount(ours, minlength=8), np.bincount(real, minlength=8), 20_000, 1)

    def statistic(a, b):
        grid = np.arange(8)
        return np.abs((a[:, None] <= grid).mean(0) - (b[:, None] <= grid).mean(0)).max()

    assert pytest.approx(stats.ks_2samp(ours, real).statistic) == distance
    expected = stats.permutation_test((ours, real), statistic, n_resamples=5000, alternative="greater", random_state=2)
    assert pytest.approx(expected.pvalue, abs=0.02) == p


def test_the_interval_is_welchs():
    rng = np.random.default_rng(2)
    ours, real = rng.integers(1, 6, 40), rng.integers(1, 9, 200)
    expected = stats.ttest_ind(ours, real, equal_var=False).confidence_interval()

    assert pytest.approx((expected.low, expected.high)) == welch_interval(np.bincount(ours), np.bincount(real))
    assert (1.0, 1.0) == welch_interval(np.array([0, 0, 4]), np.array([0, 4]))
    assert welch_interval(np.array([0, 1]), np.array([0, 4])) is None


def test_long_test_queries_are_found():
    shop = Shop(1)
    found = look([shop.query(4, 9) for _ in range(50)], Counter(shop.asked(2000)))["DIA020"]

    assert "warning" == found.severity
    assert found.evidence[1].interval[0] > 0
    assert 1.0 == pytest.approx(sum(row["test"] for row in found.tables[0].records()))


# Vocabulary


def test_the_divergence_is_scipys():
    test, production = ["red shoes", "blue shoes", "red hat"], {"green shoes": 3, "red shoes": 1, "wool": 1}

    found = look(test, production)["DIA021"]

    words = ["red", "shoes", "blue", "hat", "green", "wool"]
    ours, real = [2, 2, 1, 1, 0, 0], [1, 4, 0, 0, 3, 1]
    assert 6 == len(words)
    assert pytest.approx(jensenshannon(ours, real, base=2) ** 2) == found.evidence[0].value
    assert pytest.approx(4 / 9) == found.evidence[1].value  # green three times and wool, of nine words


def test_other_words_are_found_and_named():
    shop = Shop(2)
    found = look([f"legal {shop.query(1, 2)}" for _ in range(60)], Counter(shop.asked(2000)))["DIA021"]

    assert "warning" == found.severity
    assert "legal" == found.tables[0].records()[0]["word"]


# Head and tail


def test_head_tail_and_unseen_by_hand():
    """One query is half of the traffic. The test set has it, a rare one, and one that nobody asked."""
    production = {"shoes": 10, "hats": 5, "coats": 4, "wool": 1}

    found = look(["Shoes!", "wool", "spaceship"], production)["DIA023"]

    shares = [evidence.value for evidence in found.evidence]
    assert [pytest.approx(1 / 3), pytest.approx(1 / 3), pytest.approx(11 / 20)] == shares
    assert found.measured.startswith("1 of 3 test queries are in the head (1 real query with half of the traffic)")


@pytest.mark.parametrize("choose", [lambda texts: texts[:30], lambda texts: texts[-30:]])
def test_a_test_set_of_head_or_tail_alone_is_found(choose):
    shop = Shop(3)
    production = Counter(shop.asked(5000))
    texts = sorted(production, key=lambda text: -production[text])

    assert "warning" == look(choose(texts), production)["DIA023"].severity


def test_the_share_of_new_queries_is_what_a_simulation_gives():
    """A sample of 700 is counted; then traffic is drawn until there are 80 different queries."""
    unseen = []
    for seed in range(40):
        shop = Shop(seed)
        shop.texts = [f"{text} {number}" for number, text in enumerate(shop.texts)]
        counts = Counter(shop.asked(700))
        fresh = list(dict.fromkeys(shop.asked(2000)))[:80]
        unseen.append(
            (np.mean([text not in counts for text in fresh]), expected_new(np.array(list(counts.values())), 80))
        )
    found, expected = np.mean(unseen, axis=0)

    assert pytest.approx(expected, abs=0.03) == found


def test_without_repeats_there_is_no_head():
    found = look(["a", "b"], {"a": 1, "c": 1})

    assert ["DIA023"] == [missing.code for missing in found.not_looked_at]
    assert "no query of `production=` occurs twice" in found.not_looked_at[0].reason


# No false alarms


def test_a_random_test_set_raises_no_more_alarms_than_the_level():
    """One in twenty, give or take what 80 seeds allow (three deviations)."""
    found = alarms(queries_from_the_traffic, 80)

    assert [] == [code for code, count in found.items() if count > 4 + 3 * np.sqrt(80 * 0.05 * 0.95)]


# Duplicates


def test_repeated_queries_of_all_kinds():
    found = look(
        ["Wi-Fi router", "wi fi ROUTER?", "router wi fi", "best rice cooker", "best rice cookers", "tea"], {"x": 2}
    )

    rows = found["DIA022"].tables[0].records()
    assert [("the same text", "q0", "q1"), ("the same words", "q0", "q2"), ("nearly the same text", "q3", "q4")] == [
        (row["they have"], row["query"], row["and"]) for row in rows
    ]
    assert "3 of 6 test queries (50.0%) duplicate another one; 3 are distinct." == found["DIA022"].measured
    assert "warning" == found["DIA022"].severity


def test_different_queries_are_fine():
    assert "fine" == look(["rice", "tea", "wool coat", "red shoes"], {"x": 2})["DIA022"].severity


def test_all_pairs_that_are_alike_are_found():
    rng = np.random.default_rng(4)
    texts = {str(number): "".join(rng.choice(list("ab "), 12)) for number in range(120)}
    sets = {name: trigrams(normalised(text)) for name, text in texts.items()}

    expected = {(a, b) for a in sets for b in sets if int(a) < int(b) and jaccard(sets[a], sets[b]) >= 0.6}
    assert expected
    assert expected == {(a, b) for a, b, _ in alike(sets, 0.6)}


def test_what_is_missing_is_named():
    found = diagnose({"q": {"a": 1}}, {"r": {"q": {"a": 1.0}}}, ["P@1"], only=["queries"])

    assert ["DIA020", "DIA021", "DIA022", "DIA023"] == [missing.code for missing in found.not_looked_at]
    assert "needs `queries=`, the texts of the test queries" == found.not_looked_at[2].reason
