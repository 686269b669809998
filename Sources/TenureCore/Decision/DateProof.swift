import Foundation

/// Rules B and C3 of Docs/decision-rules.md: the eras (periods with one business model) that contain a purchase date, on
/// one platform or on several.
struct DateProof {
    /// The eras that contain the date, without changeover windows.
    private(set) var eras = EraSet()
    /// The eras before and after each changeover window that contains the date. Price and version of the app may not
    /// match in such a window, so both eras are possible.
    private(set) var windowEras = EraSet()
    /// Whether the date was compared with the date at which an era begins, on at least one platform.
    private(set) var wasCompared = false

    /// Creates a proof without eras. `unite(with:)` then adds the proof of each platform.
    init() {}

    /// Creates the proof on one platform. A missing date allows every era.
    init(of date: Date?, on timeline: Timeline) {
        guard let date else {
            eras = timeline.eras
            return
        }
        eras = timeline.eras(at: date)
        windowEras = timeline.changeover(at: date)
        wasCompared = timeline.hasDateBoundary
    }

    /// Adds the proof on another platform on which the app can have been acquired.
    mutating func unite(with other: DateProof) {
        eras = eras.union(other.eras)
        windowEras = windowEras.union(other.windowEras)
        wasCompared = wasCompared || other.wasCompared
    }
}
