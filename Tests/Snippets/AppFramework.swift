// Stands in for SwiftUI, whose `Transaction` collides with StoreKit's where both are visible.
public struct Transaction {
    public var disablesAnimations = false
    public init() {}
}
