// Apple's StoreKit exports Foundation: code that imports only StoreKit uses `Date` and `Data`.
@_exported public import Foundation
