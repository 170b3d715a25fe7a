env --chdir=/opt/trex/v3.08 ./t-rex-64 -i --cfg testbed/trex/memif.cfg.yaml -c 1 --no-scapy-server --iom 0 --queue-drop --hdrh
