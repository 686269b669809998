/// Errors that the App Store Server API answers although nothing is wrong with the request: for rehearsing what a server
/// does then. A rate limit says to come again in a second.
package actor Trouble {
    private var error: ServerAPIError?
    private var requests = 0

    /// The next so many requests are refused; 0: none any more.
    package func make(_ error: ServerAPIError, requests: Int) {
        self.error = error
        self.requests = requests
    }

    func next() -> ServerAPIError? {
        guard requests > 0 else { return nil }
        requests -= 1
        return error
    }
}
