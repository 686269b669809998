// As documented: https://developer.apple.com/documentation/foundation/nsbundleresourcerequest. `AppleFoundation.swift`
// says what belongs here.

import Foundation

#if !os(macOS)
    public let NSBundleResourceRequestLoadingPriorityUrgent: Double = .greatestFiniteMagnitude
    public var NSBundleOnDemandResourceInvalidTagError: Int { 4994 }

    open class NSBundleResourceRequest: NSObject {
        public init(tags: Set<String>) {}

        open var loadingPriority: Double {
            get { 0 }
            set {}
        }
        open var progress: Progress { Progress(totalUnitCount: 0) }

        open func beginAccessingResources(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {}
        open func endAccessingResources() {}
    }

    extension Bundle {
        public func setPreservationPriority(_ priority: Double, forTags tags: Set<String>) {}
    }
#endif

public final class NSKeyValueObservation: Sendable {
    public func invalidate() {}

    init() {}
}

public struct NSKeyValueObservedChange<Value> {}

extension Progress {
    public func observe<Value>(
        _ keyPath: KeyPath<Progress, Value>,
        changeHandler: @escaping @Sendable (Progress, NSKeyValueObservedChange<Value>) -> Void
    ) -> NSKeyValueObservation { NSKeyValueObservation() }
}
