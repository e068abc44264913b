//! The records that several modules share, as plain data that is saved in files and crosses pipes:
//! runs, models, and what benchmarks, exports and imports are asked for and find. Depends on
//! settings and drawings, and on no module that computes.

pub mod benchmark;
mod bundle;
mod comparison;
mod digit_map;
mod evaluation;
mod export;
mod import;
mod inspection;
mod learning;
mod model;
mod profile;
mod recognition;
mod record_card;
mod run;
mod searches;
mod steering;

pub use bundle::{
    BundleId, BundleUse, DataUpload, DeletedBundle, FilePart, KEPT_DAYS, ReceivedBundle,
};
pub use comparison::{
    BeforeAfter, COMPARED_MODELS, ComparedModel, ComparisonSpec, FineTuned, ModelComparison,
    PairedCounts,
};
pub use digit_map::{
    COMPONENTS, DigitMap, LabeledImage, MapLayer, MapPoint, MapSource, MapSpec, NearImage,
    Neighborhood, OWN_IMAGES, plane,
};
pub use evaluation::{
    Accuracy, Calibration, DigitDetection, Ensemble, EvaluationReport, EvaluationSpec,
    LabelRejection, MAX_WRITERS, NotDigitsSpec, RELIABILITY_BINS, ReliabilityBin, SplitEvaluation,
    Uncertainty, WriterScore,
};
pub use export::{
    ExportSpec, FileInfo, OPSETS, QuantizedAccuracy, Replace, TensorFormat, TensorInfo, USUAL_OPSET,
};
pub use import::{EXPORT_AS_ONNX, ImportFinding, ImportSpec, MeasuredReading, Reading, Trials};
pub use inspection::{
    InspectedLayer, InspectedUnit, Inspection, LayerKind, Step, StepKind, Term, UnitSelection,
    map_of, pooled_places, row_length,
};
pub use learning::{
    FilterImages, HeldOutAnswer, HeldOutImage, HeldOutSnapshot, InitializationReport,
    LayerVariance, ModelLook, PatchComponents,
};
pub use model::{
    Annotation, DigitPrediction, DrawingAnswer, Evaluation, ModelInfo, ModelRef, Normalization,
    Prediction, Sample, Suggestion,
};
pub use profile::{Profile, ProfileRow, Span, SpanKind};
pub use recognition::{
    Attribution, Change, Counterfactual, Explanation, PredictionDetails, Recognition, WhySpec,
};
pub use record_card::{CARD_VERSION, HardImage, RecordCard, RunSeconds, SeedRun};
pub use run::{
    Divergence, EpochRecord, Intervention, JobId, MAX_POSTERIOR_SAMPLES, MAX_SNAPSHOTS, Rescue,
    RunPlan, RunPosition, RunSummary, SnapshotRecord, StepCurve, StepPoint, Telemetry, chance_loss,
    posterior_sample_count, posterior_sample_name, snapshot_name, snapshot_step,
};
pub use searches::{
    BatchSizeFinding, BatchSizeSpec, LearningRateFinding, LearningRatePoint, LearningRateSearch,
    LearningRateSuggestion, Reached, SEARCH_RATES, SEARCH_STEPS, SearchEnd, TARGET_ACCURACIES,
    TARGET_ACCURACY, TimeToAccuracy, batch_size_configs, fastest_batch_size, search_config,
};
pub use steering::{LearningRateChange, SingleStep, UnitName, UnitUpdate, Update};
