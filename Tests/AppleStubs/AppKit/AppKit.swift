import Foundation

// Mac Catalyst has a module of this name, too, without this class.
#if os(macOS)
    @MainActor open class NSApplication: NSObject {
        public nonisolated class var didBecomeActiveNotification: NSNotification.Name {
            NSNotification.Name("NSApplicationDidBecomeActiveNotification")
        }
    }
#endif
