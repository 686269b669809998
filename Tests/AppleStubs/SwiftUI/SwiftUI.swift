public struct EnvironmentValues: Sendable {}
