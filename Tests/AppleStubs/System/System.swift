public struct FilePath: Hashable, Sendable {
    public init(_ string: String) {}
}
