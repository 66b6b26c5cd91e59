//! The scorers of the user's rubric, for one experiment.

use futures_util::future::join_all;

use super::score::{PanelScores, panel};
use super::stage::{Stage, StageFailure};
use crate::model::CallTally;
use crate::plan::Item;
use crate::plan::rubric::{JudgeScorer, Rubric, ScoredTexts, Scorer, TextScore, fill};
use crate::prompts::{OwnPrompt, RoleInput};
use crate::result::{Metrics, OwnScore, OwnStatus};
use crate::{Context, StageStatus};

/// The texts of an experiment that has a decoded text.
#[derive(Clone, Copy)]
pub(super) struct OwnTexts<'a> {
    pub encoded: &'a str,
    pub decoded: &'a str,
}

impl OwnTexts<'_> {
    /// Asks the judges of every scorer. The stage fails if the run stopped before all were asked; the failure of a scorer is its score's.
    pub(super) async fn judged(
        self,
        ctx: &Context<'_>,
        item: &Item<'_>,
        rubric: &Rubric,
    ) -> Stage<Vec<OwnScore>> {
        let asked = rubric
            .judges()
            .map(async |(scorer, judge)| (scorer, self.asked(ctx, item, scorer, judge).await));
        let (mut scores, mut tally) = (Vec::new(), CallTally::default());
        let mut stopped = None;
        for (scorer, PanelScores { stage, record }) in join_all(asked).await {
            tally.merge_parallel(&stage.tally);
            let score = match stage.value {
                Ok(judged) => OwnScore {
                    reasoning: Some(judged.reasoning),
                    ..own(scorer, TextScore::Score(judged.points.into()))
                },
                Err(failure) => {
                    let score = OwnScore {
                        status: OwnStatus::ScorerFailed,
                        failure: Some(failure.status),
                        reasoning: Some(failure.detail.clone()),
                        ..own(scorer, TextScore::NotApplicable)
                    };
                    if failure.status == StageStatus::NotRun {
                        stopped.get_or_insert(failure);
                    }
                    score
                }
            };
            scores.push(OwnScore {
                samples: record.map_or_else(Vec::new, |record| record.samples),
                ..score
            });
        }
        let value: Result<_, StageFailure> = stopped.map_or(Ok(scores), Err);
        Stage { value, tally }
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

    /// The scores of all scorers in the order of the rubric. `judged` are those of the judges; they are missing if the run stopped before.
    pub(super) fn scored(
        self,
        item: &Item<'_>,
        rubric: &Rubric,
        metrics: &Metrics,
        judged: Vec<OwnScore>,
    ) -> Vec<OwnScore> {
        let texts = ScoredTexts {
            encoded: self.encoded,
            decoded: self.decoded,
            expected: item.case.case.expected_output.as_deref(),
            metrics,
        };
        let mut judged = judged.into_iter();
        let scores = rubric.scorers.iter().filter_map(|scorer| {
            let score = scorer.of_texts(&texts).map(|score| own(scorer, score));
            score.or_else(|| judged.next())
        });
        scores.collect()
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
