"""Admit a request if its bids obtain a share of 1/(1 + C) of each host with C processors, at the
spot price and at the percentile of the forecast (eq. 5), as an example of a policy that is a program.
If only processors have a price, the built-in policy sac decides the same."""
import json
import sys


def say(answer):
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def decide(question, cpus):
    place = question["place"]
    if isinstance(place, str):  # the bidding strategy found no hosts
        return {"reject": place}
    price = percentile = now = later = least = 0.0
    why = None
    for p in place:
        host, bid = question["hosts"][p["host"]], p["bid"]
        forecast = max(0.0, host["percentile"][0])
        own = bid / (bid + host["price"])
        price += host["price"]
        percentile += forecast
        now += own
        later += bid / (bid + forecast)
        least += 1 / (1 + cpus[p["host"]])
    numbers = {"price": price / len(place), "percentile": percentile / len(place),
               "spot_share": now, "share": later, "threshold": least}
    numbers = {name: x for name, x in numbers.items() if x}
    if now < least * (1 - 1e-9):
        why = "share below threshold at spot price"
    elif later < least * (1 - 1e-9):
        why = "share below threshold at price percentile"
    return {"reject": why, "numbers": numbers} if why else {"accept": place, "numbers": numbers}


def main():
    hello = json.loads(sys.stdin.readline())
    cpus = [host["cpus"] for host in hello["hosts"]]
    guarantee = (hello["options"] or {}).get("guarantee", 0.6)
    say({"hello": "bourse policy", "version": 1, "name": "sac.py", "sees": ["hosts"], "percentiles": [guarantee]})
    for line in sys.stdin:
        question = json.loads(line)
        say(dict(decide(question, cpus), ask=question["ask"]))


if __name__ == "__main__":
    main()
