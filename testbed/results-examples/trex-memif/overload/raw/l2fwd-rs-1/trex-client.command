python -u testbed/trex/bridge.py /opt/trex/v3.08
