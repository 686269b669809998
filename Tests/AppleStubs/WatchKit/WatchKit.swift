import Foundation

@MainActor open class WKExtension: NSObject {
    public nonisolated class var applicationDidBecomeActiveNotification: NSNotification.Name {
        NSNotification.Name("WKExtensionApplicationDidBecomeActiveNotification")
    }
    public nonisolated class var applicationDidEnterBackgroundNotification: NSNotification.Name {
        NSNotification.Name("WKExtensionApplicationDidEnterBackgroundNotification")
    }
}

@MainActor open class WKApplication: NSObject {
    public nonisolated class var didBecomeActiveNotification: NSNotification.Name {
        NSNotification.Name("WKApplicationDidBecomeActiveNotification")
    }
}
