import Foundation

/// Rules B and C3: the eras that contain a purchase date, on one platform or on several.
struct DateProof {
    private(set) var eras = EraSet()
    /// The eras before and after every change with a changeover window that contains the date.
    private(set) var windowEras = EraSet()
    /// Whether the date was compared with a boundary's instant on at least one platform.
    private(set) var wasCompared = false

    init() {}

    init(of date: Date?, on timeline: Timeline) {
        guard let date else {
            eras = timeline.eras
            return
        }
        eras = timeline.eras(at: date)
        windowEras = timeline.changeover(at: date)
        wasCompared = timeline.hasDateBoundary
    }

    mutating func unite(with other: DateProof) {
        eras = eras.union(other.eras)
        windowEras = windowEras.union(other.windowEras)
        wasCompared = wasCompared || other.wasCompared
    }
}
