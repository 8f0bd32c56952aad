import Fanfare
package import FanfareFeeds

extension SubscriberFile: SubscriberSource {}
