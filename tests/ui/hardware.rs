//! The hardware screen: what was found, and the benchmark from start to table.

use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT, Queryable};
use inkling::bench::Extent;
use inkling::protocol::Command;
use inkling::ui::Inkling;

use super::window::{sized, usual};

fn open(window: &mut Harness<'static, Inkling>) {
    window.get_by_label("Hardware").click();
    window.run_steps(3);
}

#[test]
fn a_machine_that_was_never_measured_says_what_to_do() {
    let (mut window, _engine) = usual();
    open(&mut window);
    window.get_by_label_contains("has not been measured yet");
    window.get_by_label("Measure");
}

#[test]
fn a_benchmark_shows_figures_as_they_come_and_then_the_table() {
    let (mut window, mut engine) = usual();
    open(&mut window);
    window.get_by_label("Measure").click();
    window.run_steps(3);
    engine.serve();
    window.run_steps(3);
    assert!(matches!(engine.heard.last(), Some(Command::Benchmark { extent: Extent::Full, .. })));
    window.get_by_label_contains("Matrix products, 30 s left");
    window.get_by_label("Progress of the benchmark");
    window.get_by_label("100 GFLOP/s");
    assert_eq!(window.query_all_by_label("200 GFLOP/s").count(), 0, "not found yet");
    engine.finish_benchmark();
    window.run_steps(3);
    window.get_by_label("200 GFLOP/s");
    window.get_by_label_contains("Measured on 21 Nov 2026");
    window.get_by_label_contains("A processor");
    window.get_by_label("Copy as text").click();
    window.step();
    let copied = window.output().platform_output.commands.iter().any(|command| format!("{command:?}").contains("GFLOP/s"));
    assert!(copied, "{:?}", window.output().platform_output.commands);
}

#[test]
fn a_benchmark_can_be_cancelled_and_the_last_one_stays() {
    let (mut window, mut engine) = sized([900.0, 600.0]);
    open(&mut window);
    window.get_by_label("Measure quickly").click();
    window.run_steps(3);
    engine.serve();
    assert!(matches!(engine.heard.last(), Some(Command::Benchmark { extent: Extent::Quick, .. })));
    engine.finish_benchmark();
    window.run_steps(3);
    window.get_by_label("Measure").click();
    window.run_steps(3);
    engine.serve();
    window.run_steps(3);
    window.get_by_label("Cancel").click();
    window.run_steps(3);
    assert!(window.get_by_label("Cancel").accesskit_node().is_disabled(), "once is enough");
    engine.serve();
    window.run_steps(3);
    window.get_by_label("Measure");
    window.get_by_label("200 GFLOP/s");
}

#[test]
fn while_training_the_benchmark_waits_and_says_so() {
    let (mut window, mut engine) = usual();
    window.get_by_label("Start").click();
    window.run_steps(3);
    engine.serve();
    open(&mut window);
    assert!(window.get_by_label("Measure").accesskit_node().is_disabled());
    window.get_by_label_contains("Measure when it is over");
}

#[test]
fn an_engine_that_breaks_leaves_no_benchmark_behind() {
    let (mut window, mut engine) = usual();
    open(&mut window);
    window.get_by_label("Measure").click();
    window.run_steps(3);
    engine.serve();
    engine.die();
    window.run_steps(3);
    window.get_by_label("Measure");
}

#[test]
fn a_check_of_the_machine_shows_its_verdict_and_each_check() {
    let (mut window, _engine) = usual();
    open(&mut window);
    window.get_by_label("Not checked yet");
    window.get_by_label("Check").click();
    for _ in 0..500 {
        window.step();
        if window.query_by_label_contains("checks passed").is_some() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    window.get_by_label_contains("All 3 checks passed in 1.0 s");
    window.get_by_label("Each check").click();
    window.run_steps(20);
    window.get_by_label("Short training");
    window.get_by_label("Check again");
}
