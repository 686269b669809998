// Apple's StoreKit brings Foundation along: code that imports nothing else uses `Date` and `Data`.
@_exported public import Foundation
