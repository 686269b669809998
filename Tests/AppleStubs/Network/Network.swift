import Dispatch

public struct NWPath: Equatable, Sendable {
    public enum Status: Equatable, Hashable, Sendable {
        case satisfied
        case unsatisfied
        case requiresConnection
    }

    public let status: Status
    public let isExpensive: Bool
    public let isConstrained: Bool
}

public final class NWPathMonitor {
    public init() {}

    public var pathUpdateHandler: (@Sendable (_ newPath: NWPath) -> Void)? {
        get { nil }
        set {}
    }
    public var currentPath: NWPath { NWPath(status: .satisfied, isExpensive: false, isConstrained: false) }

    public func start(queue: DispatchQueue) {}
    public func cancel() {}
}
