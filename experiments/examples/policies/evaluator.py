"""Scores a policy for a program that searches for policies, such as OpenEvolve. STUDY, CHAMPION and
BOURSE name the study, the policy to beat and the program bourse."""
import json
import os
import subprocess
import sys


def evaluate(path):
    """Returns the score of the policy in a file, which is to be as large as possible, and why."""
    candidate = [path] if path.endswith(".star") else ["--", "python3", path]
    done = subprocess.run(
        [os.environ.get("BOURSE", "bourse"), "judge", "--screen", "--json",
         "--against", os.environ.get("CHAMPION", "cac"), "--on", os.environ.get("STUDY", "study.yaml")] + candidate,
        capture_output=True, text=True)
    if done.returncode != 0:  # it does not even start
        return {"combined_score": -1.0, "error": done.stderr}
    return json.loads(done.stdout)


if __name__ == "__main__":
    print(json.dumps(evaluate(sys.argv[1])))
