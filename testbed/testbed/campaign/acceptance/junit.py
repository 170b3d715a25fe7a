# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""A campaign as JUnit XML, which a CI shows: a case for each threshold, each measurement, and the campaign itself.

A threshold that was missed is a failure; what could not be told, or went wrong, is an error.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree

from testbed.campaign.summary import CampaignSummary, Verdict, frames_in_words
from testbed.run.results_folder import Status

JUNIT = "junit.xml"
# XML 1.0 has no place for these, and programs print them.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def as_junit(summary: CampaignSummary) -> str:
    """The text of the file."""
    top = ElementTree.Element("testsuites", name=_clean(summary.title))
    whole = _suite(top, "campaign", summary)
    _case(whole, "campaign", summary.scenario, "error", None if summary.status is Status.PASSED else summary.reason)
    thresholds = _suite(top, "thresholds", summary)
    for one in summary.acceptance:
        reason = None if one.verdict is Verdict.PASSED else one.in_words()
        kind = "failure" if one.verdict is Verdict.FAILED else "error"
        _case(thresholds, f"{one.device}, {frames_in_words(one)}", one.threshold, kind, reason)
    measurements = _suite(top, "measurements", summary)
    for finding in summary.findings:
        reason = None if finding.status == "done" else finding.reason or finding.status
        kind = "skipped" if finding.status == "skipped" else "error"
        name = finding.measurement.replace("_", " ")
        case = _case(measurements, f"{finding.device}, {frames_in_words(finding)}", name, kind, reason)
        if finding.grade is not None:
            # A case without a complaint says that it was measured, not how.
            ElementTree.SubElement(case, "system-out").text = _clean(f"{finding.headline}\nGrade: {finding.grade}")
    for suite in top:
        suite.set("tests", str(len(suite)))
        for kind, count in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
            suite.set(count, str(len(suite.findall(f"testcase/{kind}"))))
    ElementTree.indent(top)
    return ElementTree.tostring(top, encoding="unicode", xml_declaration=True) + "\n"


def _suite(top: ElementTree.Element, name: str, summary: CampaignSummary) -> ElementTree.Element:
    return ElementTree.SubElement(top, "testsuite", name=name, timestamp=summary.started.isoformat(timespec="seconds"))


def _case(suite: ElementTree.Element, what: str, name: str, kind: str, reason: str | None) -> ElementTree.Element:
    case = ElementTree.SubElement(suite, "testcase", classname=_clean(what), name=_clean(name))
    if reason is not None:
        ElementTree.SubElement(case, kind, message=_clean(reason.partition("\n")[0])).text = _clean(reason)
    return case


def _clean(text: str) -> str:
    return _NOT_XML.sub("�", text)
