import { assert, describe, it } from "@effect/vitest"
import { ofPython } from "../../../src/catalogue/code/Reach.ts"

const senders = [
  "import requests\nreturn requests.get('http://x').json()",
  "from urllib.request import urlopen\nreturn urlopen('http://x')",
  "import json, urllib.request",
  "import json; import socket",
  "if True: import http.client",
  "try:\n\timport pyodide.http\nexcept Exception:\n\tpass",
  "from js import fetch\nawait fetch('http://x')",
  "import js as j",
  "import numpy as np",
  "from . import x",
  "import json,\\\n  os",
  "__import__('os').system('curl http://x')",
  "exec('import os')",
  "eval(\"__import__('os')\")",
  "open('/etc/passwd').read()",
  "e = open",
  "getattr(_input, 'constructor')",
  "globals()['__builtins__']",
  "vars(x)['y']",
  "().__class__.__base__.__subclasses__()",
  "(lambda: 0).__globals__",
  "import random\nrandom._os.system('curl x')",
  "from random import _os",
  "from random import (\n  _os as o\n)",
  "import json\njson.codecs.builtins.open('x')",
  "import collections\ncollections.abc.sys.modules['os']",
  "import operator\noperator.attrgetter('__globals__')(f)",
  "from operator import attrgetter as a",
  "import importlib",
  "helpers.httpRequest({})",
  "await _helpers.httpRequest(x)",
  "_input.constructor.constructor('return fetch')()",
  "x = f\"{__import__('os').system('curl x')}\"",
  "x = f'{d[\"a\"](exec(\"import os\"))}'",
  "x = f\"{d[\"a\"](exec(\"import os\"))}\"",
  "x = f'''{\n  eval('1') }'''",
  "ｅｘｅｃ('import os')",
  "x = 'a' if 1 else 'b'; exec('x')",
  "x = f\"{x:'>10} {exec('1')}\"",
  "x = f'\\{eval(1)}'",
  "x = rf'\\{eval(1)}'",
  "x = 'not closed",
  "def f():\n  import subprocess",
  "x = ''' # '''; eval('1')"
]

const harmless = [
  "return [{'json': {'a': 1}}]",
  "import json\nfrom datetime import datetime, timedelta\nimport re as r\nreturn [{'json': {'d': str(datetime.now())}}]",
  "import math; import statistics\nx = math.floor(statistics.mean([1, 2]))",
  "for item in _input.all():\n  item.json.status = 'open'  # import requests\nreturn _input.all()",
  "text = \"import requests; exec('x')\"\nreturn [{'json': {'text': text}}]",
  "\"\"\"\nimport os\nexec(x)\n\"\"\"\nreturn items",
  "name = f\"{item['json']['first']} {{literal}} {total:.2f}\"",
  "from collections import (\n  defaultdict,\n  Counter\n)\ncounts = Counter(x['json']['k'] for x in items)",
  "class Row:\n  def __init__(self, a):\n    self.a = a\nreturn [{'json': {'a': Row(1).a}}]",
  "x = f\"{name:'>{width}} {a!r} {b[1:2]}\"",
  "opened = items[0]['json']['open']; evaluate = 2"
]

describe("effects of a node's Python", () => {
  it("reaches outside by imports, by code that is made, by attributes of texts and by n8n's helpers", () => {
    for (const code of senders) assert.isTrue(ofPython(code).outside, code)
  })

  it("stays inside where it only computes", () => {
    for (const code of harmless) assert.deepStrictEqual(ofPython(code), { outside: false, state: false }, code)
  })

  it("keeps state with static data of the workflow", () => {
    assert.isTrue(ofPython("data = _getWorkflowStaticData('global')\nreturn [{'json': dict(data)}]").state)
  })
})
