"""What a picture says of how it was made: of the run that it shows, and what k counts there."""

from kanon.plan import Plan
from kanon.run import prepare
from kanon.studio.session.table_loading import open_sample
from kanon.studio.widgets.picture import PictureSettings, get_start_state
from support.dashboard import anonymised, choose, frame_metric, go, work
from support.people_plans import PEOPLE, plan_with


def told(**changes):
    plan = Plan.from_content(plan_with(**changes))
    made = PictureSettings.from_run(open_sample("hospital"), prepare(plan, PEOPLE), 2)
    assert made.k == 2
    return made.line.split(" · ")


def test_k_counts_records_or_persons_and_models_are_named():
    assert "k = 2, counting records" in told()
    said = told(
        person="name",
        algorithm={"name": "gaa", "strategy": "s3", "scope": "class", "tie_seed": 4},
        privacy=[{"model": "k-anonymity", "k": 2}, {"model": "distinct-l-diversity", "l": 2}],
    )
    assert said[0].endswith(": 6 records, 5 persons")
    assert "algorithm: GAA; metric: NLLM; strategy: S3 (merged class); tie seed: 4" in said
    assert "Distinct l-diversity with l = 2 for 'disease'" in said
    assert "k = 2, counting persons" in said


def test_records_that_were_left_out_are_said():
    table = PEOPLE.assign(sex=["F", None, "F", "M", "F", "F"])
    plan = Plan.from_content(plan_with(read={"missing": "drop-records"}))
    made = PictureSettings.from_run(open_sample("hospital"), prepare(plan, table))
    assert ": 5 of 6 records · " in made.line and "counting" not in made.line and made.k is None


def test_what_was_chosen_since_is_not_said_of_an_older_result(start):
    at = anonymised(start(sample="hospital"))
    then = PictureSettings.from_run(work(at), work(at).findings.result.prepared, 2).line
    choose(at, frame_metric(at), "ncp")
    assert "metric: NLLM" in then
    assert PictureSettings.from_run(work(go(at)), work(at).findings.result.prepared, 2).line == then
    assert get_start_state(work(at), "run").settings.metric == "nllm"
    assert get_start_state(work(at), "comparison") is work(at), "none was made"
