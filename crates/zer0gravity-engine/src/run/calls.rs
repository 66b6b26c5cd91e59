use crate::plan::rubric::{Rubric, fill};
use crate::plan::{Config, EncodingSystem, Plan, PlannedCase};
use crate::prompts::{
    MAX_EXECUTOR_TOKENS, MAX_JUDGE_TOKENS, MAX_MEASURE_TOKENS, Nonce, OwnPrompt, Role, RoleInput,
    render,
};
use crate::{LocalCounter, TokenCounter};

/// The provider that counts tokens, so that its prompts are not measured.
const COUNTS: &str = "anthropic";

/// Tokens of a judge's usual reply.
pub const JUDGE_REPLY_TOKENS: u64 = 120;

/// Calls of a run that cost alike: those of one role on one text by one encoding.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlannedCall {
    /// The role that is asked.
    pub role: Role,
    /// The model's id.
    pub model: String,
    /// The number of these calls.
    pub times: u64,
    /// Tokens of one call, with every text that a model writes at its longest.
    pub at_most: CallTokens,
    /// Tokens that one call will probably take, with encodings and decodings as long as their texts.
    pub expected: CallTokens,
}

/// Tokens of one call or of several, by a tokenizer that is not the model's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CallTokens {
    /// Tokens of the prompt.
    pub prompt: u64,
    /// Tokens of the reply.
    pub reply: u64,
}

impl Plan {
    /// Lists the calls of a run of this plan that models reply to; those that only count tokens are left out. Equal calls are
    /// made once, and judges are asked again for replies that cannot be read: the first makes it less, the second more.
    pub fn calls(&self, counter: &dyn LocalCounter) -> Vec<PlannedCall> {
        let config = &self.config;
        let sizes = |encoder| {
            let decoders = config.pairs().filter(move |pair| pair.0 == encoder);
            Sizes {
                config,
                counter,
                local: TokenCounter::of(encoder),
                encoder,
                decoders: decoders.map(|(_, decoder)| decoder).collect(),
            }
        };
        let sizes: Vec<_> = config.encoders().into_iter().map(sizes).collect();
        let mut calls = Vec::new();
        for encoding in &self.encodings {
            for sizes in &sizes {
                for case in &self.cases {
                    sizes.case(encoding, case, &mut calls);
                }
                sizes.measures(encoding, &mut calls);
            }
            // Judges of the rules are asked once for all models.
            if let Some(sizes) = sizes.first() {
                sizes.rules(encoding, self.cases.len() as u64, &mut calls);
            }
        }
        calls
    }
}

/// Computes the lengths of prompts, for one encoder model and its decoder models.
struct Sizes<'a> {
    config: &'a Config,
    counter: &'a dyn LocalCounter,
    local: TokenCounter,
    encoder: &'a str,
    decoders: Vec<&'a str>,
}

impl Sizes<'_> {
    fn text(&self, text: &str) -> u64 {
        self.local.message_tokens(text, self.counter)
    }

    fn prompt(&self, input: RoleInput<'_>) -> u64 {
        let prompt = render(self.config.prompt_profile, input, Nonce::default());
        let turns = prompt.messages.into_iter().map(|turn| turn.content);
        self.text(&(prompt.system + &turns.collect::<String>()))
    }

    /// Adds the calls on one text.
    fn case(&self, encoding: &EncodingSystem, planned: &PlannedCase, calls: &mut Vec<PlannedCall>) {
        let (rules, text) = (encoding.rules.as_str(), &*planned.case.text);
        let config = self.config;
        let [trials, decodes, samples] =
            [config.trials, config.decodes, config.judge_samples].map(u64::from);
        let per_text = trials * decodes;
        let (longest, length) = (u64::from(config.max_output_tokens), self.text(text));
        let known = [("original", text), ("rules", rules)];
        let own = config.rubric.iter().flat_map(Rubric::judges);
        let own: Vec<_> = own
            .map(|(_, judge)| {
                let parts = [&judge.system, &judge.user];
                let written = |part: &&String| {
                    part.matches("{decoded}").count() + part.matches("{encoded}").count()
                };
                let holds: usize = parts.iter().map(written).sum();
                (parts.map(|part| fill(part, &known)), holds as u64)
            })
            .collect();
        // The prompt comes without the earlier replies that it holds; a reply has its greatest and its expected length.
        let mut call = |role, model: &str, times, input, holds: u64, reply: [u64; 2]| {
            let prompt = self.prompt(input);
            calls.push(PlannedCall {
                role,
                model: model.to_owned(),
                times,
                at_most: CallTokens {
                    prompt: prompt + longest * holds,
                    reply: reply[0],
                },
                expected: CallTokens {
                    prompt: prompt + length * holds,
                    reply: reply[1],
                },
            });
        };
        let models = &config.models;
        let (written, encoded, decoded) = ([longest, length], "", "");
        let input = RoleInput::Encode { rules, text };
        call(Role::Encoder, self.encoder, trials, input, 0, written);
        let judged = [MAX_JUDGE_TOKENS.into(), JUDGE_REPLY_TOKENS];
        for decoder in &self.decoders {
            let input = RoleInput::Decode { rules, encoded };
            call(Role::Decoder, decoder, per_text, input, 1, written);
            for judge in &models.judges {
                let original = text;
                let prompt = config.judge_prompt.as_deref();
                let input = RoleInput::Semantic {
                    original,
                    decoded,
                    prompt,
                };
                let times = per_text * samples;
                call(Role::SemanticJudge, judge, times, input, 1, judged);
            }
            for ([system, user], holds) in &own {
                let input = RoleInput::Own(OwnPrompt {
                    system,
                    user,
                    texts: &[],
                    max_points: 0,
                });
                for model in &models.judges {
                    call(
                        Role::OwnJudge,
                        model,
                        per_text * samples,
                        input,
                        *holds,
                        judged,
                    );
                }
            }
            if config.execute && planned.case.expected_output.is_some() {
                let carried = [MAX_EXECUTOR_TOKENS.into(), JUDGE_REPLY_TOKENS];
                let input = RoleInput::Execute { decoded };
                call(Role::Executor, decoder, per_text, input, 1, carried);
            }
        }
    }

    /// Adds the two calls that measure the prompts of one set of rules, where the provider may not count tokens.
    fn measures(&self, encoding: &EncodingSystem, calls: &mut Vec<PlannedCall>) {
        let config = self.config;
        let is_crossed = config.pairs().any(|(encoder, decoder)| encoder != decoder);
        if config.label.provider == COUNTS || config.no_measure_tokens || is_crossed {
            return;
        }
        let (rules, text, encoded) = (encoding.rules.as_str(), "a", "a");
        let inputs = [
            (Role::MeasureEncoder, RoleInput::Encode { rules, text }),
            (Role::MeasureDecoder, RoleInput::Decode { rules, encoded }),
        ];
        calls.extend(inputs.map(|(role, input)| {
            let tokens = CallTokens {
                prompt: self.prompt(input),
                reply: MAX_MEASURE_TOKENS.into(),
            };
            PlannedCall {
                role,
                model: self.encoder.to_owned(),
                times: 1,
                at_most: tokens,
                expected: tokens,
            }
        }));
    }

    /// Adds the calls that ask judges for one set of rules.
    fn rules(&self, encoding: &EncodingSystem, cases: u64, calls: &mut Vec<PlannedCall>) {
        let config = self.config;
        let [trials, decodes, samples] =
            [config.trials, config.decodes, config.judge_samples].map(u64::from);
        let times = if config.implementability_once {
            1
        } else {
            cases * trials * decodes
        };
        let rules = encoding.rules.as_str();
        let prompt = self.prompt(RoleInput::Implementability { rules });
        let tokens = |reply| CallTokens { prompt, reply };
        calls.extend(config.models.judges.iter().map(|judge| PlannedCall {
            role: Role::ImplementabilityJudge,
            model: judge.clone(),
            times: times * samples,
            at_most: tokens(MAX_JUDGE_TOKENS.into()),
            expected: tokens(JUDGE_REPLY_TOKENS),
        }));
    }
}
