//! The scorers of the user's rubric, for one experiment.

use futures_util::future::join_all;
use serde::Deserialize;
use serde_json::json;

use super::score::{PanelScores, panel};
use super::stage::{Stage, StageFailure};
use crate::model::CallTally;
use crate::model::{ModelError, ModelRequest};
use crate::plan::Item;
use crate::plan::rubric::{
    CommandScorer, JudgeScorer, Rubric, ScoredBy, ScoredTexts, Scorer, TextScore, fill,
};
use crate::prompts::{OwnPrompt, Prompt, PromptMessage, Role, RoleInput};
use crate::result::{Metrics, OwnScore, OwnStatus};
use crate::text::hash::sha256_hex;
use crate::{Context, FailureKind, StageStatus};

/// The texts of an experiment that has a decoded text.
#[derive(Clone, Copy)]
pub(super) struct OwnTexts<'a> {
    pub encoded: &'a str,
    pub decoded: &'a str,
}

/// The output of a program.
#[derive(Deserialize)]
struct Printed {
    score: f64,
    #[serde(default)]
    reasoning: Option<String>,
}

/// The answer of a judge or a program.
struct OwnAnswer {
    score: OwnScore,
    tally: CallTally,
    /// The failure of a run that stopped before the call was made, or because of it.
    stopped: Option<StageFailure>,
}

impl OwnTexts<'_> {
    /// Asks the judges and programs of all scorers. The stage fails if the run stopped before all were asked; the failure of a scorer is
    /// its score's.
    pub(super) async fn answered(
        self,
        ctx: &Context<'_>,
        item: &Item<'_>,
        rubric: &Rubric,
    ) -> Stage<Vec<OwnScore>> {
        let asked = rubric.scorers.iter().map(async |scorer| match &scorer.by {
            ScoredBy::Judge(judge) => Some(self.judged(ctx, item, scorer, judge).await),
            ScoredBy::Command(program) => Some(self.run(ctx, item, scorer, program).await),
            _ => None,
        });
        let (mut scores, mut tally, mut stopped) = (Vec::new(), CallTally::default(), None);
        for answer in join_all(asked).await.into_iter().flatten() {
            tally.merge_parallel(&answer.tally);
            stopped = stopped.or(answer.stopped);
            scores.push(answer.score);
        }
        let value = stopped.map_or(Ok(scores), Err);
        Stage { value, tally }
    }

    /// Runs a program, through the client like a model.
    async fn run(
        self,
        ctx: &Context<'_>,
        item: &Item<'_>,
        scorer: &Scorer,
        program: &CommandScorer,
    ) -> OwnAnswer {
        let reply = ctx.client.complete(self.request(item, program)).await;
        let reply = reply.map_err(failure_of_program).and_then(|reply| {
            let [low, high] = scorer.scale;
            let expected = format!("expected a score from {low} to {high}");
            let printed: Printed = serde_json::from_str(&reply.text).map_err(|error| {
                let detail = format!("{expected}: {error}");
                StageFailure::new(StageStatus::Unparseable, detail)
            })?;
            if (low..=high).contains(&printed.score) {
                return Ok(printed);
            }
            let detail = format!("{expected}, found {}", printed.score);
            Err(StageFailure::new(StageStatus::Unparseable, detail))
        });
        let tally = CallTally::default();
        match reply {
            Ok(Printed { score, reasoning }) => OwnAnswer {
                score: OwnScore {
                    reasoning,
                    ..own(scorer, TextScore::Score(score))
                },
                tally,
                stopped: None,
            },
            Err(failure) => OwnAnswer::failed(scorer, failure, tally),
        }
    }

    #[expect(clippy::expect_used, reason = "words and a number make JSON")]
    fn request(self, item: &Item<'_>, program: &CommandScorer) -> ModelRequest {
        let case = &item.case.case;
        let system = serde_json::to_string(program).expect("a program as JSON");
        let user = json!({
            "schema_version": 1,
            "testCaseId": case.id,
            "encodingId": item.encoding_id(),
            "trial": item.trial,
            "decode": item.decode,
            "original": &*case.text,
            "encoded": self.encoded,
            "decoded": self.decoded,
            "rules": item.encoding.rules,
            "expectedOutput": case.expected_output,
        });
        let prompt = Prompt {
            sha256: sha256_hex(system.as_bytes()),
            system,
            messages: vec![PromptMessage::user(user.to_string())],
            max_tokens: 0,
            json_schema: None,
        };
        let name = program.argv.first().map_or("", String::as_str);
        ModelRequest::new(Role::OwnProgram, name, prompt)
    }

    async fn judged(
        self,
        ctx: &Context<'_>,
        item: &Item<'_>,
        scorer: &Scorer,
        judge: &JudgeScorer,
    ) -> OwnAnswer {
        let PanelScores { stage, record } = self.asked(ctx, item, scorer, judge).await;
        let mut answer = match stage.value {
            Ok(judged) => OwnAnswer {
                score: OwnScore {
                    reasoning: Some(judged.reasoning),
                    ..own(scorer, TextScore::Score(judged.points.into()))
                },
                tally: stage.tally,
                stopped: None,
            },
            Err(failure) => OwnAnswer::failed(scorer, failure, stage.tally),
        };
        answer.score.samples = record.map_or_else(Vec::new, |record| record.samples);
        answer
    }

    async fn asked(
        self,
        ctx: &Context<'_>,
        item: &Item<'_>,
        scorer: &Scorer,
        judge: &JudgeScorer,
    ) -> PanelScores {
        let (original, rules) = (&*item.case.case.text, &*item.encoding.rules);
        let texts = [
            ("original", original),
            ("decoded", self.decoded),
            ("encoded", self.encoded),
            ("rules", rules),
        ];
        let (system, user) = (fill(&judge.system, &texts), fill(&judge.user, &texts));
        let prompt = OwnPrompt {
            system: &system,
            user: &user,
            texts: &texts.map(|(_, text)| text),
            max_points: scorer.scale[1] as u8,
        };
        panel(ctx, item, RoleInput::Own(prompt), None).await
    }

    /// The scores of all scorers in the order of the rubric. `answered` are those of judges and programs; they are missing if the run
    /// stopped before.
    pub(super) fn scored(
        self,
        item: &Item<'_>,
        rubric: &Rubric,
        metrics: &Metrics,
        answered: Vec<OwnScore>,
    ) -> Vec<OwnScore> {
        let texts = ScoredTexts {
            encoded: self.encoded,
            decoded: self.decoded,
            expected: item.case.case.expected_output.as_deref(),
            metrics,
        };
        let mut answered = answered.into_iter();
        let scores = rubric.scorers.iter().filter_map(|scorer| {
            let score = scorer.of_texts(&texts).map(|score| own(scorer, score));
            score.or_else(|| answered.next())
        });
        scores.collect()
    }
}

/// A program that gives no score is like a judge that gives none: no server failed.
fn failure_of_program(error: ModelError) -> StageFailure {
    if error.kind == FailureKind::Program {
        return StageFailure::new(StageStatus::Unparseable, error.message);
    }
    error.into()
}

impl OwnAnswer {
    fn failed(scorer: &Scorer, failure: StageFailure, tally: CallTally) -> Self {
        Self {
            score: OwnScore {
                status: OwnStatus::ScorerFailed,
                failure: Some(failure.status),
                reasoning: Some(failure.detail.clone()),
                ..own(scorer, TextScore::NotApplicable)
            },
            tally,
            stopped: Some(failure).filter(|failure| {
                failure.status == StageStatus::NotRun
                    || failure.kind == Some(FailureKind::TemperatureRefused)
            }),
        }
    }
}

fn own(scorer: &Scorer, score: TextScore) -> OwnScore {
    let (score, status) = match score {
        TextScore::Score(score) => (Some(score), OwnStatus::Ok),
        TextScore::NotApplicable => (None, OwnStatus::NotApplicable),
    };
    OwnScore {
        id: scorer.id.clone(),
        kind: scorer.by.kind().to_owned(),
        scale: scorer.scale,
        score,
        status,
        failure: None,
        reasoning: None,
        samples: Vec::new(),
    }
}
