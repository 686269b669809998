/// The client SDK.
public final class Tenure: Sendable {}
