import CoreMetrics
import TenureCore

/// Keeps one app's metrics in memory, where `GET /metrics` reads them. `ServiceMetrics` passes this factory to each
/// counter and timer of swift-metrics.
///
/// The factory stores a series for each combination of label values. The number of series is bounded only if callers
/// take the values from fixed tables, never from clients.
final class PrometheusFactory: MetricsFactory {
    /// What identifies a series: the name of the metric, and one combination of label values.
    private struct Key: Hashable {
        let name: String
        let labels: [PrometheusLabel]
    }

    private let metrics = Locked<[Key: any PrometheusMetric]>([:])

    /// All metrics by name, each with its series in the order of their labels.
    var families: [String: PrometheusFamily] {
        var families: [String: PrometheusFamily] = [:]
        for (key, metric) in metrics.withLock({ $0 }) {
            families[key.name, default: PrometheusFamily(name: key.name, kind: metric.kind)].series.append(
                PrometheusFamily.Series(labels: key.labels, value: metric.reportedValue))
        }
        for name in families.keys { families[name]?.sort() }
        return families
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        number(label, dimensions, .counter)
    }

    func makeFloatingPointCounter(label: String, dimensions: [(String, String)]) -> any FloatingPointCounterHandler {
        number(label, dimensions, .counter)
    }

    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        number(label, dimensions, .gauge)
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        guard aggregate else { return number(label, dimensions, .gauge) }
        return metric(label, dimensions, orNew: PrometheusHistogram())
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        metric(label, dimensions, orNew: PrometheusHistogram())
    }

    func destroyCounter(_ handler: any CounterHandler) { remove(handler) }
    func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) { remove(handler) }
    func destroyMeter(_ handler: any MeterHandler) { remove(handler) }
    func destroyRecorder(_ handler: any RecorderHandler) { remove(handler) }
    func destroyTimer(_ handler: any TimerHandler) { remove(handler) }

    /// Returns the counter or gauge with these labels, and creates it if it doesn't exist.
    func number(_ name: String, _ labels: [(String, String)], _ kind: PrometheusFamily.Kind) -> PrometheusNumber {
        metric(name, labels, orNew: PrometheusNumber(kind))
    }

    /// Returns the metric with these labels. If it doesn't exist, creates it with `make`.
    private func metric<Metric: PrometheusMetric>(
        _ name: String, _ labels: [(String, String)], orNew make: @autoclosure () -> Metric
    ) -> Metric {
        let key = Key(name: name, labels: labels.map(PrometheusLabel.init))
        return metrics.withLock { metrics in
            if let metric = metrics[key] as? Metric { return metric }
            let metric = make()
            metrics[key] = metric
            return metric
        }
    }

    private func remove(_ handler: AnyObject) {
        metrics.withLock { metrics in metrics = metrics.filter { $0.value !== handler } }
    }
}

/// The values of one series.
private protocol PrometheusMetric: AnyObject, Sendable {
    var kind: PrometheusFamily.Kind { get }
    var reportedValue: PrometheusFamily.Value { get }
}

/// A counter or a gauge. Whole numbers are exact up to 2^53.
final class PrometheusNumber: CounterHandler, FloatingPointCounterHandler, MeterHandler, RecorderHandler,
    PrometheusMetric
{
    let kind: PrometheusFamily.Kind
    private let number = Locked(0.0)

    init(_ kind: PrometheusFamily.Kind) { self.kind = kind }

    var value: Double { number.withLock { $0 } }
    var reportedValue: PrometheusFamily.Value { .number(value) }

    func increment(by amount: Int64) { increment(by: Double(amount)) }
    func increment(by amount: Double) { number.withLock { $0 += amount } }
    func decrement(by amount: Double) { number.withLock { $0 -= amount } }
    func reset() { set(0.0) }
    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { number.withLock { $0 = value } }
    func record(_ value: Int64) { set(Double(value)) }
    func record(_ value: Double) { set(value) }
}

/// Durations in seconds, counted in fixed buckets.
final class PrometheusHistogram: TimerHandler, RecorderHandler, PrometheusMetric {
    /// The counted values.
    struct Counts: Sendable {
        /// For each bound, the number of values that are at most that large.
        var buckets = [UInt64](repeating: 0, count: PrometheusHistogram.bounds.count)
        var sum = 0.0
        var count: UInt64 = 0
    }

    /// The upper bounds of the buckets, in seconds.
    static let bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

    private let state = Locked(Counts())

    var kind: PrometheusFamily.Kind { .histogram }
    var counts: Counts { state.withLock { $0 } }
    var reportedValue: PrometheusFamily.Value { .histogram(counts) }

    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }
    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        state.withLock { counts in
            // Prometheus' buckets are cumulative: each contains the smaller ones.
            for (index, bound) in Self.bounds.enumerated().reversed() {
                guard value <= bound else { break }
                counts.buckets[index] += 1
            }
            counts.sum += value
            counts.count += 1
        }
    }
}
