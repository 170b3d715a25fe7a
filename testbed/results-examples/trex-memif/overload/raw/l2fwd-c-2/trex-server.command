sh testbed/trex/server.sh /opt/trex/v3.08 -i --cfg testbed/trex/memif-server.cfg.yaml -c 1 --no-scapy-server --iom 0 --queue-drop --hdrh
