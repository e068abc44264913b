//! The records that several modules share, as plain data that is saved in files and crosses pipes:
//! runs, models, and what benchmarks, exports and imports are asked for and find. Depends on
//! settings and drawings, and on no module that computes.

#![warn(missing_docs)]

mod accuracy;
mod annotation;
mod batch_size_search;
pub mod benchmark;
mod bundle;
mod calibration;
mod comparison;
mod ensemble;
mod evaluation;
mod export;
mod fine_tune;
mod import;
mod initialization;
mod learning;
mod model;
mod profile;
mod rate_search;
mod reading;
mod run;
mod step_curve;

pub use accuracy::Accuracy;
pub use annotation::Annotation;
pub use batch_size_search::{
    BatchSizeFinding, BatchSizeSpec, Reached, TARGET_ACCURACIES, TARGET_ACCURACY, TimeToAccuracy,
    batch_size_configs, fastest_batch_size,
};
pub use bundle::{
    BundleId, BundleUse, DataUpload, DeletedBundle, FilePart, KEPT_DAYS, ReceivedBundle,
};
pub use calibration::{Calibration, RELIABILITY_BINS, ReliabilityBin};
pub use comparison::{
    COMPARED_MODELS, ComparedModel, ComparisonSpec, ModelComparison, PairedCounts,
};
pub use ensemble::{Ensemble, Uncertainty};
pub use evaluation::{
    DigitDetection, EvaluationReport, EvaluationSpec, LabelRejection, MAX_WRITERS, NotDigitsSpec,
    SplitEvaluation, WriterScore,
};
pub use export::{
    ExportSpec, FileInfo, OPSETS, QuantizedAccuracy, Replace, TensorFormat, TensorInfo, USUAL_OPSET,
};
pub use fine_tune::{BeforeAfter, FineTuned};
pub use import::{ImportFinding, ImportSpec};
pub use initialization::{Components, InitializationReport, LayerVariance};
pub use learning::{HeldOutAnswer, HeldOutImage, LearningSnapshot, WeightImages};
pub use model::{
    DigitPrediction, DrawingAnswer, Evaluation, Mistake, ModelInfo, ModelRef, Normalization,
    Prediction,
};
pub use profile::{Profile, ProfileRow, Span, SpanKind};
pub use rate_search::{
    RateFinding, RatePoint, RateSearch, RateSuggestion, SEARCH_RATES, SEARCH_STEPS, SearchEnd,
    search_config,
};
pub use reading::{Doubt, MeasuredReading, Reading, TriedActivation};
pub use run::{
    Divergence, EpochRecord, Intervention, JobId, MAX_POSTERIOR_SAMPLES, Rescue, RunPlan,
    RunPosition, RunSummary, StepPoint, Telemetry, chance_loss, posterior_sample_count,
    posterior_sample_name,
};
pub use step_curve::StepCurve;
