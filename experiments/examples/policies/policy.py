"""Admit a request if the mean price of its hosts is at most a limit, as an example of a policy
that is a program: it reads questions and writes answers, one JSON object per line. Its memory is
the state, which comes with each question and returns with each answer."""
import json
import sys


def say(answer):
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def decide(question, limit):
    place, state = question["place"], question["state"]
    if isinstance(place, str):  # the bidding strategy found no hosts
        return {"reject": place, "state": state}
    hosts = question["hosts"]
    price = sum(hosts[p["host"]]["price"] for p in place) / len(place)
    if price > limit:
        state["rejected"] += 1
        return {"reject": "price above the limit", "numbers": {"price": price}, "state": state}
    return {"accept": place, "numbers": {"price": price}, "state": state}


def main():
    hello = json.loads(sys.stdin.readline())
    limit = hello["options"].get("limit", 0.05) if hello["options"] else 0.05
    say({"hello": "bourse policy", "version": 1, "name": "policy.py", "sees": ["hosts"],
         "state": {"rejected": 0}})
    for line in sys.stdin:
        question = json.loads(line)
        say(dict(decide(question, limit), ask=question["ask"]))


if __name__ == "__main__":
    main()
