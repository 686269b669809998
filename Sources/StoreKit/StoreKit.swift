/// StoreKit, where Apple's does not exist.
