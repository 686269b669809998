import ArgumentParser
import TenureCore

extension Secret: ExpressibleByArgument where Value == String {
    init?(argument: String) {
        self.init(argument)
    }

    /// ArgumentParser shows it in help.
    var defaultValueDescription: String { description }
}
