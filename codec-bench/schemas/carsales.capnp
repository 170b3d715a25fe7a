# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
#
# Records of numbers: what are these cars worth?

@0xb2f1c7d04a6e9813;

struct Lot {
  cars @0 :List(Car);
}

struct Worth {
  total @0 :UInt64;
}

enum Color {
  black @0;
  white @1;
  red @2;
  green @3;
  blue @4;
  cyan @5;
  magenta @6;
  yellow @7;
  silver @8;
}

struct Car {
  make @0 :Text;
  model @1 :Text;
  color @2 :Color;
  seats @3 :UInt8;
  doors @4 :UInt8;
  wheels @5 :List(Wheel);
  length @6 :UInt16;
  width @7 :UInt16;
  height @8 :UInt16;
  weight @9 :UInt32;
  engine @10 :Engine;
  fuelCapacity @11 :Float32;
  fuelLevel @12 :Float32;
  powerWindows @13 :Bool;
  powerSteering @14 :Bool;
  cruiseControl @15 :Bool;
  cupHolders @16 :UInt8;
  navigation @17 :Bool;
}

struct Wheel {
  diameter @0 :UInt16;
  pressure @1 :Float32;
  winter @2 :Bool;
}

struct Engine {
  horsepower @0 :UInt16;
  cylinders @1 :UInt8;
  displacement @2 :UInt32;
  gas @3 :Bool;
  electric @4 :Bool;
}
