import Foundation

// watchOS has a module of this name, too, without these classes.
#if !os(watchOS)
    @MainActor open class UIResponder: NSObject {}

    @MainActor open class UIDevice: NSObject {
        open class var current: UIDevice { UIDevice() }
        open var identifierForVendor: UUID? { nil }
    }

    @MainActor open class UIApplication: UIResponder {
        public nonisolated class var didBecomeActiveNotification: NSNotification.Name {
            NSNotification.Name("UIApplicationDidBecomeActiveNotification")
        }
        public nonisolated class var didEnterBackgroundNotification: NSNotification.Name {
            NSNotification.Name("UIApplicationDidEnterBackgroundNotification")
        }
        public nonisolated class var protectedDataDidBecomeAvailableNotification: NSNotification.Name {
            NSNotification.Name("UIApplicationProtectedDataDidBecomeAvailable")
        }
        public nonisolated class var willEnterForegroundNotification: NSNotification.Name {
            NSNotification.Name("UIApplicationWillEnterForegroundNotification")
        }
    }

    @MainActor open class UIScene: UIResponder {
        public nonisolated class var didActivateNotification: NSNotification.Name {
            NSNotification.Name("UISceneDidActivateNotification")
        }
    }

    @MainActor open class UIWindowScene: UIScene {}
#endif
