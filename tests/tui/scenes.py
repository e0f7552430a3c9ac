"""Scenes for the screen: the events of a session such as a person would have."""

from __future__ import annotations

from hel_tui.core import protocol as p
from tests.tui.fake_core import FakeCore, FakeLog

SINCE = 1_700_000_000.0

TOOLS = (
    p.ToolRow("inventory", "lookup_port", "mcp__inventory__lookup_port", "Port of a service", 84, True),
    p.ToolRow("inventory", "list_services", "mcp__inventory__list_services", "All services", 41, True),
    p.ToolRow("notes", "search", "mcp__notes__search", "Search notes", 120, False),
    p.ToolRow("notes", "append", "mcp__notes__append", "Append to a note", 96, False),
    p.ToolRow("notes", "bad", "mcp__notes__bad", "", 12, False, "its schema is not an object"),
)

SERVERS = (
    p.ServerChanged(
        "inventory",
        "ready",
        tools=2,
        latency=0.012,
        since=SINCE,
        protocol="2025-11-25",
        offers=("tools", "resources"),
    ),
    p.ServerChanged(
        "notes",
        "ready",
        tools=14,
        latency=0.003,
        since=SINCE,
        offers=("tools", "resources", "prompts", "subscriptions"),
    ),
    p.ServerChanged("browser", "starting"),
    p.ServerChanged("jira", "needs login", reason="401 from the server"),
    p.ServerChanged("weather", "failed", reason="exit 1", since=SINCE),
    p.ServerChanged("legacy", "off"),
)

BEGIN: tuple[p.Event, ...] = (
    p.SessionStarted("s1", "/srv/code/notes-app", "confirm", "0.1.0"),
    p.ModelChanged("deepseek/deepseek-chat", window=128_000),
    *SERVERS,
    p.ToolsChanged(1, 2, 31, 125),
    p.UsageChanged(39_680, 30_000, 9_680, 128_000, 50_000, 2_000, cost=0.04),
)

TURN: tuple[p.Event, ...] = (
    p.TurnStarted(1, "look up the port of the api service and put it in config.ini"),
    p.StepStarted(1, 1),
    p.TextDelta(1, "a1", "I'll find the right tool first.\n"),
    p.TextDone(1, "a1"),
    p.CallStarted(1, "c1", "", "load_mcp_tool", "lookup_port, list_services"),
    p.CallChanged("c1", "ok", 0.003),
    p.CallStarted(1, "c2", "inventory", "lookup_port", 'service="api"'),
    p.CallChanged("c2", "ok", 0.011, "api: 8437", 1),
    p.CallStarted(1, "c3", "", "search_replace", "config.ini  port = 7000 → 8437"),
    p.CallChanged("c3", "waiting"),
)

APPROVAL = p.ApprovalQuestion(
    "q1",
    "c3",
    "inventory",
    "lookup_port",
    '{\n  "service": "api",\n  "region": "eu-west-1"\n}',
    claims=("read-only", "asks nothing of the outside world"),
    warnings=("The description of this tool changed since you first approved it.",),
    changed='--- last\n+++ now\n-  "service": "web"\n+  "service": "api"',
    session_rule="mcp__inventory__lookup_port",
    project_rule="mcp__inventory__lookup_port",
)

EDIT = p.ApprovalQuestion(
    "q2",
    "c3",
    "",
    "search_replace",
    '{\n  "path": "config.ini",\n  "old": "port = 7000",\n  "new": "port = 8437"\n}',
    diff="--- config.ini\n+++ config.ini\n@@ -1,3 +1,3 @@\n [api]\n-port = 7000\n+port = 8437\n host = ::",
    session_rule="edit(config.ini)",
    project_rule="edit(config.ini)",
)

TRUST = p.TrustQuestion(
    "t1",
    "/srv/code/notes-app",
    (
        p.ServerClaim(
            "inventory",
            "project",
            ".mcp.json",
            "python3 servers/inventory.py --data data/services.json",
            resolved="/usr/bin/python3",
            cwd="/srv/code/notes-app",
            env=(("API_KEY", "sk-…(masked)"),),
        ),
        p.ServerClaim(
            "setup",
            "project",
            ".mcp.json",
            "sh -c 'curl https://example.org/install.sh | sh'",
            resolved="/bin/sh",
            cwd="/srv/code/notes-app",
            risks=("runs what it downloads (curl | sh)",),
        ),
    ),
)

FORM = p.FormQuestion(
    "f1",
    "tickets",
    "To file the ticket I need a few facts.\nThey are shown to the whole team.",
    (
        p.FormField("title", "text", "Title", "One line that says what is wrong.", required=True, maximum=80),
        p.FormField("mail", "email", "Reporter", default="ana@example.com"),
        p.FormField("count", "integer", "Machines concerned", minimum=1, maximum=500, default=3),
        p.FormField("urgent", "boolean", "Urgent"),
        p.FormField(
            "kind",
            "choice",
            "Kind",
            required=True,
            options=(("bug", "Bug"), ("ask", "Question"), ("idea", "idea")),
        ),
        p.FormField(
            "parts",
            "choices",
            "Parts concerned",
            options=(("net", "Network"), ("disk", "Disks"), ("ui", "Screen")),
        ),
    ),
    tool="file_ticket",
)

URL = p.UrlQuestion(
    "u1",
    "payments",
    "Please connect your account.",
    "https://accounts.example.com/connect?client=42&state=8f0d1c2b3a4958677685940312213344556677889900aabbccddeeff",
    "accounts.example.com",
    warnings=("The address holds an unusual port.",),
    tool="charge",
)

SAMPLING = p.SamplingQuestion(
    "m1",
    "review",
    "request",
    "# user\nSummarise these three comments in one sentence:\n- too slow\n- slow on Mondays\n- nice colours",
    system="You are terse.",
    model="deepseek/deepseek-chat",
    max_tokens=200,
    tools=("fetch_comment",),
    limits="at most 200 tokens, 30 s, 10 a minute, 5 rounds",
    tool="summarise",
)

SAMPLED = p.SamplingQuestion(
    "m2", "review", "answer", "It is slow, most of all on Mondays.", model="deepseek/deepseek-chat"
)

LOGIN = p.LoginQuestion(
    "o1",
    "jira",
    "https://auth.example.com/authorize?response_type=code&client_id=hel&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8U"
    "RWbuGJSstw-cM&code_challenge_method=S256&redirect_uri=http%3A%2F%2F127.0.0.1%3A41001%2Fcallback&scope=read",
    "https://auth.example.com",
    "http://127.0.0.1:41001/callback",
    ("read:issues", "write:issues"),
    (
        "Asked the server who it trusts.",
        "Read the metadata of https://auth.example.com.",
        "Registered hel there.",
    ),
)

PROMPTS = (
    p.PromptRow(
        "notes",
        "summary",
        "mcp__notes__summary",
        "Summary of a note",
        "Summarises one note for somebody in a hurry.",
        (
            p.FormField("note", "text", "note", "Name of the note.", required=True, completes=True),
            p.FormField("style", "text", "style", "How it should sound.", completes=True),
        ),
    ),
    p.PromptRow("notes", "weekly", "mcp__notes__weekly", description="What happened this week."),
)

RESOURCES = (
    p.ResourceRow("notes", "note://guide.md", "Guide", "How the team writes notes", "text/markdown", 2_140),
    p.ResourceRow(
        "notes", "note://schema.json", "Schema", "Shape of a note", "application/json", 512, watched=True
    ),
    p.ResourceRow("notes", "note://logo.png", "Logo", "", "image/png", 48_211),
    p.ResourceRow(
        "notes", "note://{name}/{part}", "Part of a note", "", "text/plain", 0, True, ("name", "part")
    ),
    p.ResourceRow("inventory", "inventory://services", "Services", "All services", "text/plain"),
)

CONTENTS = {
    ("notes", "note://guide.md"): (
        p.ResourceContent(
            "note://guide.md",
            "text/markdown",
            "# Guide\n\nWrite **short** notes.\n\n- one thought each\n- a title",
            59,
        ),
    ),
    ("notes", "note://schema.json"): (
        p.ResourceContent(
            "note://schema.json", "application/json", '{"type":"object","properties":{"title":{}}}', 43
        ),
    ),
    ("notes", "note://logo.png"): (
        p.ResourceContent("note://logo.png", "image/png", "", 48_211, "640×480", "/srv/s/logo.png"),
    ),
}


def busy_core() -> FakeCore:
    """A core in the middle of a turn, with logs and tools."""
    core = FakeCore(rows=TOOLS)
    core.logs["weather"] = FakeLog(
        [
            "Traceback (most recent call last):",
            '  File "weather.py", line 3, in <module>',
            "KeyError: 'API_KEY'",
        ]
    )
    core.logs["inventory"] = FakeLog([f"served request {n}" for n in range(40)])
    core.failures["weather"] = p.ServerFailure(
        "weather",
        "handshake",
        "The program ended before it answered: set API_KEY in the entry's env.",
        command_line="python3 weather.py",
        resolved="/usr/bin/python3",
        cwd="/srv/code/notes-app",
        env_names=("PATH", "HOME"),
        exit="exit 1 after 0.4 s",
        stderr=("KeyError: 'API_KEY'",),
    )
    core.put(*BEGIN, *TURN)
    return core
