//! One text, one encoding: the stages in order, until one does not end well.

use futures_util::future::{OptionFuture, join, join3};
use jiff::Timestamp;

use super::own::OwnTexts;
use super::roles;
use super::score::{JudgeSamples, PanelScores, panel};
use super::stage::{Stage, StageFailure};
use super::tokens::{self, CountedTokens, TokenSources};
use crate::dataset::RoundTripSample;
use crate::judge::matches_expected;
use crate::judge::score::TokenPair;
use crate::model::CallTally;
use crate::model::Repeat;
use crate::model::client::now;
use crate::plan::Item;
use crate::plan::RoleConfig;
use crate::plan::rubric::Rubric;
use crate::prompts::RoleInput;
use crate::result::{JudgeRecord, OwnScore, Procedural, ProceduralStatus};
use crate::text::js_trim;
use crate::{
    Context, ExperimentResult, StageName, StageRecord, StageStatus, TokenSource, TokenUse,
};

/// Runs one experiment. It always gives a result: [`ExperimentResult::outcome`] names a failure.
pub async fn run_experiment(ctx: &Context<'_>, item: &Item<'_>) -> ExperimentResult {
    let mut run = ExperimentRun::new(ctx, item);
    let ended = run.stages().await;
    run.result(ended.err()).await
}

/// The state of an experiment under way.
pub(super) struct ExperimentRun<'a> {
    pub(super) ctx: &'a Context<'a>,
    pub(super) item: &'a Item<'a>,
    pub(super) begun: Timestamp,
    pub(super) encoded: Option<String>,
    pub(super) decoded: Option<String>,
    /// The provider's counts of the text and of the encoded text.
    pub(super) counts: [Option<u64>; 2],
    pub(super) tokens: Option<(TokenPair, TokenSource)>,
    pub(super) semantic: Option<JudgeSamples>,
    pub(super) implementability: Option<JudgeSamples>,
    pub(super) semantic_record: Option<JudgeRecord>,
    pub(super) implementability_record: Option<JudgeRecord>,
    /// The scores by the judges and programs of the user's rubric.
    pub(super) own_answered: Vec<OwnScore>,
    pub(super) procedural: Procedural,
    pub(super) stages: Vec<StageRecord>,
    /// Stages side by side count as one wait.
    pub(super) total: CallTally,
    pub(super) waited_ms: u64,
}

/// Every stage of an experiment but the executor's, which is for some texts only.
pub(super) const EVERY: [StageName; 6] = [
    StageName::CountOriginal,
    StageName::Encode,
    StageName::CountEncoded,
    StageName::Decode,
    StageName::JudgeSemantic,
    StageName::JudgeImplementability,
];

/// The provider of points that came with the texts.
pub(super) const GIVEN: &str = "given";

/// The stage at which an experiment ended.
pub(super) struct Ended {
    pub(super) stage: StageName,
    pub(super) failure: StageFailure,
}

impl<'a> ExperimentRun<'a> {
    fn new(ctx: &'a Context<'a>, item: &'a Item<'a>) -> Self {
        Self {
            ctx,
            item,
            begun: now(ctx.clock),
            encoded: None,
            decoded: None,
            counts: [None; 2],
            tokens: None,
            semantic: None,
            implementability: None,
            semantic_record: None,
            implementability_record: None,
            own_answered: Vec::new(),
            procedural: Procedural {
                expected: item.case.case.expected_output.clone(),
                ..Procedural::default()
            },
            stages: Vec::with_capacity(EVERY.len()),
            total: CallTally::default(),
            waited_ms: 0,
        }
    }

    async fn stages(&mut self) -> Result<(), Ended> {
        if js_trim(&self.item.case.case.text).is_empty() {
            let failure = StageFailure::new(StageStatus::Empty, "the text is blank");
            let stage = Stage::<()> {
                value: Err(failure),
                tally: CallTally::default(),
            };
            return self.take(StageName::CountOriginal, stage).map(drop);
        }
        let decoded = match self.item.given {
            Some(sample) => self.given(sample).await?,
            None => self.round_trip().await?,
        };
        let judged = self.judge(&decoded).await;
        self.judge_own(&decoded).await?;
        judged
    }

    /// Asks the judges and programs of the user's rubric. Only a run that stops ends the experiment here.
    async fn judge_own(&mut self, decoded: &str) -> Result<(), Ended> {
        let (ctx, item) = (self.ctx, self.item);
        let rubric = item.config.rubric.as_ref();
        let asks = |rubric: &&Rubric| {
            rubric.judges().next().is_some() || rubric.programs().next().is_some()
        };
        let Some(rubric) = rubric.filter(asks) else {
            return Ok(());
        };
        let encoded = self.encoded.clone().unwrap_or_default();
        let texts = OwnTexts {
            encoded: &encoded,
            decoded,
        };
        let stage = texts.answered(ctx, item, rubric).await;
        self.own_answered = self.take(StageName::JudgeOwn, stage)?;
        let failed = self.own_answered.iter().find_map(|score| score.failure);
        if let (Some(record), Some(failed)) = (self.stages.last_mut(), failed) {
            record.status = failed;
        }
        Ok(())
    }

    /// Encodes and decodes, and counts on the way; gives the decoded text.
    async fn round_trip(&mut self) -> Result<String, Ended> {
        let (client, item) = (self.ctx.client, self.item);
        let (config, text, rules) = (item.config, &*item.case.case.text, &item.encoding.rules);
        let counted = tokens::count(client, config, item.encoder, text).await;
        self.counts[0] = self.take_count(StageName::CountOriginal, counted)?;

        let mut encoder = item.role_config(item.encoder);
        encoder.repeat = Repeat {
            trial: Some(item.trial),
            ..Repeat::default()
        };
        let stage = roles::encode(client, &encoder, rules, text).await;
        let encoder_usage = stage.tally.usage;
        let encoded = self.take(StageName::Encode, stage)?;
        self.encoded = Some(encoded.text.clone());
        self.count_encoded(&encoded.text).await?;

        let decoder = self.decoder();
        let stage = roles::decode(client, &decoder, rules, &encoded.text).await;
        let decoder_usage = stage.tally.usage;
        let decoded = self.take(StageName::Decode, stage)?;
        self.decoded = Some(decoded.text.clone());
        let usage = [encoder_usage, decoder_usage];
        let evidence = TokenSources {
            texts: [text, &encoded.text],
            prompts: self.measured(usage).await,
            counts: self.counts,
            usage,
        };
        self.tokens = Some(tokens::choose_token_numbers(
            &evidence,
            self.item.encoder,
            self.ctx.counter,
        ));
        Ok(decoded.text)
    }

    /// Takes the texts as they were given, and counts if they came without counts; returns the decoded text.
    async fn given(&mut self, sample: &RoundTripSample) -> Result<String, Ended> {
        let (client, config) = (self.ctx.client, self.item.config);
        self.given_text(StageName::Encode, &sample.encoded_text)?;
        self.given_text(StageName::Decode, &sample.decoded_text)?;
        self.encoded = Some(sample.encoded_text.clone());
        self.decoded = Some(sample.decoded_text.clone());
        if let Some(pair) = sample.tokens {
            self.tokens = Some((pair, TokenSource::Given));
            let unasked = [
                StageName::CountOriginal,
                StageName::Encode,
                StageName::CountEncoded,
                StageName::Decode,
            ];
            for stage in unasked {
                self.skip(stage);
            }
            return Ok(sample.decoded_text.clone());
        }
        let counted = tokens::count(client, config, self.item.encoder, &sample.case.text).await;
        self.counts[0] = self.take_count(StageName::CountOriginal, counted)?;
        self.skip(StageName::Encode);
        self.count_encoded(&sample.encoded_text).await?;
        self.skip(StageName::Decode);
        let evidence = TokenSources {
            texts: [&sample.case.text, &sample.encoded_text],
            prompts: [None, None],
            counts: self.counts,
            usage: [None, None],
        };
        self.tokens = Some(tokens::choose_token_numbers(
            &evidence,
            self.item.encoder,
            self.ctx.counter,
        ));
        Ok(sample.decoded_text.clone())
    }

    /// A blank text of another tool is as empty as a model's reply would be.
    fn given_text(&mut self, name: StageName, text: &str) -> Result<(), Ended> {
        if !js_trim(text).is_empty() {
            return Ok(());
        }
        for stage in EVERY.into_iter().take_while(|stage| *stage != name) {
            self.skip(stage);
        }
        let failure = StageFailure::new(StageStatus::Empty, "the given text is blank");
        let stage = Stage::<()> {
            value: Err(failure),
            tally: CallTally::default(),
        };
        self.take(name, stage)
    }

    /// One source for both numbers: without the first, the second is of no use.
    async fn count_encoded(&mut self, encoded: &str) -> Result<(), Ended> {
        let (config, encoder) = (self.item.config, self.item.encoder);
        if self.counts[0].is_some() || config.label.offline {
            let counted = tokens::count(self.ctx.client, config, encoder, encoded).await;
            self.counts[1] = self.take_count(StageName::CountEncoded, counted)?;
        } else {
            self.skip(StageName::CountEncoded);
        }
        Ok(())
    }

    /// Measures the prompts of encoder and decoder, if the numbers are to come from what replies report. All experiments with these
    /// prompts share the two calls.
    async fn measured(&mut self, usage: [Option<TokenUse>; 2]) -> [Option<u64>; 2] {
        const TOKEN: &str = "a";
        let item = self.item;
        if !tokens::need_measuring(self.counts, usage, item) {
            return [None, None];
        }
        let rules = &item.encoding.rules;
        let cfg = item.role_config(item.encoder);
        let encoder = RoleInput::Encode { rules, text: TOKEN };
        let decoder = RoleInput::Decode {
            rules,
            encoded: TOKEN,
        };
        let client = self.ctx.client;
        let (encoder, decoder) = join(
            roles::measure(client, &cfg, encoder),
            roles::measure(client, &cfg, decoder),
        )
        .await;
        self.waited_ms += encoder.tally.elapsed_ms.max(decoder.tally.elapsed_ms);
        [encoder, decoder].map(|stage| {
            self.total.merge_parallel(&stage.tally);
            stage.value.ok().flatten()
        })
    }

    fn decoder(&self) -> RoleConfig {
        let item = self.item;
        RoleConfig {
            repeat: Repeat {
                trial: Some(item.trial),
                decode: Some(item.decode),
                ..Repeat::default()
            },
            ..item.role_config(item.decoder)
        }
    }

    /// Asks the judges, and at the same time an agent that carries out the decoded text. Points that were given need no
    /// judge.
    async fn judge(&mut self, decoded: &str) -> Result<(), Ended> {
        let (ctx, item) = (self.ctx, self.item);
        let (config, original, rules) = (item.config, &*item.case.case.text, &item.encoding.rules);
        let points = |pick: fn(&RoundTripSample) -> Option<u8>| item.given.and_then(pick);
        let input = RoleInput::Semantic {
            original,
            decoded,
            prompt: config.judge_prompt.as_deref(),
        };
        let semantic = panel(ctx, item, input, points(|sample| sample.semantic_score));
        let given = points(|sample| sample.implementability_score);
        // Without rules there is nothing to judge, and no points are made up.
        let judges_rules = given.is_some() || !js_trim(rules).is_empty();
        let implementability = OptionFuture::from(
            judges_rules.then(|| panel(ctx, item, RoleInput::Implementability { rules }, given)),
        );
        let executes =
            config.execute && !config.label.offline && self.procedural.expected.is_some();
        let decoder = self.decoder();
        let executed =
            OptionFuture::from(executes.then(|| roles::execute(ctx.client, &decoder, decoded)));
        let (semantic, implementability, executed) =
            join3(semantic, implementability, executed).await;
        self.judged(semantic, implementability, executed)
    }

    /// Takes in the stages that ran side by side.
    fn judged(
        &mut self,
        semantic: PanelScores,
        implementability: Option<PanelScores>,
        executed: Option<Stage<String>>,
    ) -> Result<(), Ended> {
        let judging = semantic.stage.tally.elapsed_ms;
        let rules = (implementability.as_ref()).map_or(0, |panel| panel.stage.tally.elapsed_ms);
        let executing = executed.as_ref().map_or(0, |stage| stage.tally.elapsed_ms);
        self.waited_ms += judging.max(rules).max(executing);
        self.semantic_record = semantic.record;
        let semantic = self.note(StageName::JudgeSemantic, semantic.stage);
        let implementability = if let Some(PanelScores { stage, record }) = implementability {
            self.implementability_record = record;
            self.note(StageName::JudgeImplementability, stage).map(Some)
        } else {
            self.skip(StageName::JudgeImplementability);
            Ok(None)
        };
        // It decides no points, so its failure fails nothing else; the list of stages tells it.
        if let Some(stage) = executed {
            let answer = self.note(StageName::Execute, stage).ok();
            self.check_procedure(answer);
        }
        self.semantic = semantic.as_ref().ok().cloned();
        self.implementability = implementability.as_ref().ok().cloned().flatten();
        semantic?;
        implementability.map(drop)
    }

    /// Holds what the decoded instruction gives against what is expected.
    fn check_procedure(&mut self, answer: Option<String>) {
        let Some(expected) = &self.procedural.expected else {
            return;
        };
        self.procedural.status = match &answer {
            None => ProceduralStatus::Undetermined,
            Some(answer) if matches_expected(answer, expected) => ProceduralStatus::Pass,
            Some(_) => ProceduralStatus::Fail,
        };
        self.procedural.answer = answer;
    }

    /// Takes in a stage that ran alone.
    fn take<T>(&mut self, name: StageName, stage: Stage<T>) -> Result<T, Ended> {
        self.waited_ms += stage.tally.elapsed_ms;
        self.note(name, stage)
    }

    fn take_count(
        &mut self,
        name: StageName,
        counted: CountedTokens,
    ) -> Result<Option<u64>, Ended> {
        let status = tokens::status(&counted, self.item.config);
        let number = self.take(name, counted);
        if let Some(record) = self.stages.last_mut() {
            record.status = status;
        }
        number
    }

    fn note<T>(&mut self, name: StageName, stage: Stage<T>) -> Result<T, Ended> {
        self.stages.push(stage.record(name));
        self.total.merge_parallel(&stage.tally);
        stage.value.map_err(|failure| Ended {
            stage: name,
            failure,
        })
    }

    pub(super) fn skip(&mut self, stage: StageName) {
        self.stages.push(StageRecord {
            stage,
            status: StageStatus::NotRun,
            stop_reason: None,
            attempts: 0,
            elapsed_ms: 0,
            usage: None,
        });
    }
}
