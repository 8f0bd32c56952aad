"""Compares histograms and a log of ours with hdrhistogram of PyPI.

Standard input has one JSON object: `histograms`, each with the `values` that were recorded ([microseconds, times]), `text` (ours,
encoded), `max` and `quantiles` ([share, rank, microseconds]); and `log`, the path of a log with the `tags` and counts of its lines.
Prints the number of comparisons, or fails with the first difference.
"""
import json
import sys

from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader


def main():
    order = json.load(sys.stdin)
    compared = 0
    for number, entry in enumerate(order["histograms"]):
        theirs = HdrHistogram(1, 3_600_000_000, 3)
        for value, times in entry["values"]:
            assert theirs.record_value(value, times), f"{value} is out of range"
        read = HdrHistogram.decode(entry["text"])
        assert read.total_count == theirs.total_count, f"histogram {number}: {read.total_count} != {theirs.total_count}"
        ours = {item.value_iterated_to: item.count_at_value_iterated_to for item in read.get_recorded_iterator()}
        expected = {item.value_iterated_to: item.count_at_value_iterated_to for item in theirs.get_recorded_iterator()}
        assert ours == expected, f"histogram {number}: other counts"
        for share, rank, microseconds in entry["quantiles"]:
            # The library rounds a rank to the nearest, ours is rounded up, as in the reference implementation in Java. A percentile that is
            # exactly a rank is the same for both.
            value = theirs.get_value_at_percentile(100 * rank / theirs.total_count)
            # The library gives the end of the last bucket, ours gives the exact maximum in it.
            assert min(value, entry["max"]) == microseconds, f"histogram {number}: {share}: {value} != {microseconds}"
            compared += 1
    reader = HistogramLogReader(order["log"], HdrHistogram(1, 3_600_000_000, 3))
    for tag, count, start in order["tags"]:
        line = reader.get_next_interval_histogram()
        assert line is not None, f"{tag}: the log ends"
        found = (line.get_tag(), line.total_count, line.get_start_time_stamp())
        assert found == (tag, count, start), f"{found} != {(tag, count, start)}"
        compared += 1
    assert reader.get_next_interval_histogram() is None, "the log has more lines"
    print(compared)


if __name__ == "__main__":
    main()
