// A replacement for SwiftUI: its `Transaction` collides with StoreKit's if both are visible.
public struct Transaction {
    public var disablesAnimations = false
    public init() {}
}
