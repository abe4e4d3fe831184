"""Write a compaction strategy in Python and measure it with Compactometer.

A strategy is a class with a method `compact`, and one call that runs it::

    from compactometer import strategy

    class KeepRecent(strategy.Strategy):
        version = "1"
        parameters = {"share": 0.9}

        def compact(self, request):
            tokens = int(request.budget.retained * self.settings["share"])
            return request.fixed_and(request.newest(tokens))

    strategy.run(KeepRecent)

`compactometer compare -s mine=exec:"python3 keep_recent.py",@controls` measures it.
"""
