"""The tables of `ptx.lark`. Built by tools/build_grammar.py; not written by hand."""


# Terminal or literal -> its kind, one character.
KINDS = {
'VERSION': 'I', 'TARGET': 'J', 'ADDRESS_SIZE': 'K', 'FILE': 'L', 'LOC': 'M', 'LOC_INTERMEDIATE': 'N',
'PRAGMA': 'O', 'ALIAS': 'P', 'SECTION': 'Q', 'METADATA_SECTION': 'R', 'METADATA_DOMAIN': 'S',
'METADATA': 'T', 'ENTRY': 'U', 'FUNC': 'V', 'CALLPROTOTYPE': 'W', 'TARGETS': 'X', 'ENTRY_FLAG': 'Y',
'ENTRY_NUMBER': 'Z', 'ENTRY_EXTENT': 'a', 'FUNC_FLAG': 'b', 'FUNC_NUMBER': 'c', 'LANGUAGE': 'd',
'HIDDEN': 'e', 'LINKAGE': 'f', 'SPACE': 'g', 'TYPE': 'h', 'VECTOR': 'i', 'ALIGN': 'j', 'PTR': 'k',
'ATTRIBUTE': 'l', 'SINGLE': 'm', 'FLOAT': 'n', 'INTEGER': 'o', 'STRING': 'p', 'WARP_SZ': 'q', 'CALL': 'r',
'GENERIC': 's', 'FUNCTION_NAME': 't', 'SINK': 'u', 'INLINED_AT': 'v', 'QUALIFIED': 'w', 'DOTTED': 'x',
'NAME': 'y', 'WORD': 'z', '!=': 'A', '&&': 'B', '<<': 'C', '<=': 'D', '==': 'E', '>=': 'F', '>>': 'G',
'||': 'H', '!': '!', '%': '%', '&': '&', '(': '(', ')': ')', '*': '*', '+': '+', ',': ',', '-': '-',
'/': '/', ':': ':', ';': ';', '<': '<', '=': '=', '>': '>', '?': '?', '@': '@', '[': '[', ']': ']',
'^': '^', '{': '{', '|': '|', '}': '}', '~': '~'}

# Word -> kind, for what `PATTERNS` takes for a NAME or a WORD.
KEYWORDS = {
'.version': 'I', '.target': 'J', '.address_size': 'K', '.file': 'L', '.loc': 'M', '.loc_intermediate': 'N',
'.pragma': 'O', '.alias': 'P', '.section': 'Q', '.metadata_section': 'R', '.metadata_domain': 'S',
'.metadata': 'T', '.entry': 'U', '.func': 'V', '.callprototype': 'W', '.branchtargets': 'X',
'.calltargets': 'X', '.explicitcluster': 'Y', '.blocksareclusters': 'Y', '.maxnreg': 'Z',
'.minnctapersm': 'Z', '.maxnctapersm': 'Z', '.maxclusterrank': 'Z', '.minperctamemory': 'Z',
'.maxntid': 'a', '.reqntid': 'a', '.reqnctapercluster': 'a', '.noreturn': 'b', '.abi_preserve': 'c',
'.abi_preserve_control': 'c', '.language': 'd', '.hidden': 'e', '.extern': 'f', '.visible': 'f',
'.weak': 'f', '.common': 'f', '.reg': 'g', '.const': 'g', '.global': 'g', '.local': 'g', '.param': 'g',
'.shared': 'g', '.tex': 'g', '.b8': 'h', '.b16': 'h', '.b32': 'h', '.b64': 'h', '.b128': 'h', '.s8': 'h',
'.s16': 'h', '.s32': 'h', '.s64': 'h', '.u8': 'h', '.u16': 'h', '.u32': 'h', '.u64': 'h', '.f16': 'h',
'.f16x2': 'h', '.f32': 'h', '.f64': 'h', '.bf16': 'h', '.bf16x2': 'h', '.tf32': 'h', '.s16x2': 'h',
'.u16x2': 'h', '.pred': 'h', '.texref': 'h', '.samplerref': 'h', '.surfref': 'h', '.v2': 'i', '.v4': 'i',
'.v8': 'i', '.align': 'j', '.ptr': 'k', '.attribute': 'l', 'WARP_SZ': 'q', 'generic': 's',
'function_name': 't', '_': 'u', 'inlined_at': 'v'}

# Terminal -> regular expression, in the order in which they are tried; literals come after.
PATTERNS = {'SINGLE': '0[fF][\\da-fA-F]{8}(?![\\w$.])',
 'FLOAT': '(?:(?:\\d+\\.\\d*|\\.\\d+)(?:[eE][+-]?\\d+)?|\\d+[eE][+-]?\\d+|0[dD][\\da-fA-F]{16})(?![\\w$.])',
 'INTEGER': '(?:0[xX][\\da-fA-F]+|0[bB][01]+|0[0-7]*|[1-9]\\d*)U?(?![\\w$.])',
 'STRING': '"[^"\n]*"|"[^"\n;]*\n[^"]*"',
 'CALL': 'call(?:\\.[\\w$]+(?:::[\\w$]+)*)*(?![\\w$])',
 'QUALIFIED': '(?:[A-Za-z][\\w$]*|[_$%][\\w$]+)\\.[\\w$]+(?![\\w$.]|::)',
 'DOTTED': '(?:[A-Za-z][\\w$]*|[_$%][\\w$]+)(?:\\.[\\w$]+(?:::\\d+:\\d+|::[\\w$]+)*)+',
 'NAME': '[A-Za-z][\\w$]*|[_$%][\\w$]+|_',
 'WORD': '\\.[\\w$]+(?:::\\d+:\\d+|::[\\w$]+)*'}
LITERALS = ('!=', '&&', '<<', '<=', '==', '>=', '>>', '||', '!', '%', '&', '(', ')', '*', '+', ',', '-', '/', ':', ';',
 '<', '=', '>', '?', '@', '[', ']', '^', '{', '|', '}', '~')

# A rule a line: its name, and of each alternative the method (`-` if spliced, `?` if a lone
# child stands for it) and the length. Alternatives are numbered from the first line on.
RULES = """\
___opcode_star_15 -:2 -:1
__address_star_17 -:3 -:3 -:2 -:2
__attributes_star_9 -:3 -:2
__declarator_star_10 -:2 -:1
__entry_directive_star_6 -:3 -:2
__function_header_star_2 -:2 -:1
__function_header_star_3 -:2 -:1
__initializer_star_11 -:3 -:2
__instruction_star_14 -:3 -:2
__metadata_fields_plus_13 -:3 -:2
__parameter_star_5 -:2 -:1
__parameters_star_4 -:3 -:2
__pragma_star_1 -:3 -:2
__section_line_star_12 -:3 -:2
__statement_star_7 -:3 -:2
__target_star_0 -:3 -:2
__variable_star_8 -:3 -:2
__vector_star_16 -:3 -:2
_index -:1 -:1
_inlined -:8
_modifier -:1 -:1 -:1 -:1 -:1
_name -:1 -:1 -:1 -:1
_opcode -:2 -:1 -:2 -:1 -:2 -:1
_section_type -:1 -:1
_specifier -:1 -:1 -:1 -:1
address address:5 address:4 address:4 address:3
alignment alignment:2
arguments arguments:4 arguments:3 arguments:2
attribute attribute:6 attribute:1
attributes attributes:5 attributes:4
base base?:1 base?:1 offset:3 offset:3
bit_and bit_and?:1 binary:3
bit_or bit_or?:1 binary:3
bit_xor bit_xor?:1 binary:3
body body:3
call call:11 call:9 call:9 call:7 call:9 call:7 call:7 call:5 call:10 call:8 call:8 call:6 call:8 call:6 call:6 call:4 call:10 call:8 call:8 call:6 call:8 call:6 call:6 call:4 call:9 call:7 call:7 call:5 call:7 call:5 call:5 call:3
close close:1
conditional conditional?:1 conditional:5
constant constant?:1 constant?:1
count count:3 count:3
debug_name name:1 name:1
debug_symbol debug_symbol?:1 binary:3
declarator declarator:4 declarator:2 declarator:5 declarator:3 declarator:6 declarator:4 declarator:5 declarator:3 declarator:4 declarator:2 declarator:5 declarator:3 declarator:4 declarator:2 declarator:3 declarator:1
dimension dimension:3 dimension:3
element element?:1 field:3
end end:1
entry_directive entry_directive?:1 directive:6 directive:4 directive:2 directive:1 directive:2 directive:3 directive:2
equality equality?:1 binary:3 binary:3
expression expression?:1
func_directive directive:1 directive:2 directive:3 directive:2
function function:2 function:2
function_header function_header:3 function_header:4 function_header:3 function_header:2 function_header:3 function_header:4 function_header:3 function_header:2 function_header:4 function_header:5 function_header:4 function_header:3 function_header:5 function_header:6 function_header:5 function_header:4 function_header:4 function_header:5 function_header:4 function_header:3 function_header:4 function_header:5 function_header:4 function_header:3 function_header:4 function_header:5 function_header:4 function_header:3 function_header:5 function_header:6 function_header:5 function_header:4 function_header:6 function_header:7 function_header:6 function_header:5 function_header:5 function_header:6 function_header:5 function_header:4
generic generic:4
guard guard:2 guard:3
initial_value initial_value?:1 initial_value?:1 initial_value?:1 binary:3 binary:3 mask:4
initializer initializer?:1 vector:4 vector:3 vector:2
instruction instruction:4 instruction:3 instruction:2 instruction:5 instruction:4 instruction:3
item item?:1 item?:1 item?:1 item?:1 item?:1 directive:2 directive:5 directive:7 directive:5 directive:3 directive:2 linked_variable:2
items items:2 items:0
label label:2
label_name name:1
language language?:1 language?:1
logical_and logical_and?:1 binary:3
logical_or logical_or?:1 binary:3
masked masked?:1 masked?:1 masked?:1 binary:3 binary:3
metadata_field metadata_field?:1 unary:2
metadata_fields vector:4
metadata_header metadata_header:2
metadata_integer integer:1
metadata_line directive:3 directive:2
metadata_lines metadata_lines:2 metadata_lines:0
metadata_string string:1
module module:1
name name:2 name:1 name:1
open open:1
operand operand?:1 operand?:1 operand?:1 element:4 pair:3 pair:3
parameter parameter:4 parameter:4 parameter:3 parameter:5 parameter:5 parameter:4 parameter:6 parameter:6 parameter:5 parameter:5 parameter:5 parameter:4 parameter:5 parameter:5 parameter:4 parameter:6 parameter:6 parameter:5 parameter:7 parameter:7 parameter:6 parameter:6 parameter:6 parameter:5 parameter:4 parameter:4 parameter:3 parameter:5 parameter:5 parameter:4 parameter:6 parameter:6 parameter:5 parameter:5 parameter:5 parameter:4 parameter:3 parameter:3 parameter:2 parameter:4 parameter:4 parameter:3 parameter:5 parameter:5 parameter:4 parameter:4 parameter:4 parameter:3
parameters parameters:4 parameters:3 parameters:2
plain_name name:1
pointer pointer:2 pointer:3 pointer:2 pointer:1
pragma directive:4 directive:3
primary float:1 integer:1 name:1 parenthesized:3
product product?:1 binary:3 binary:3 binary:3
relation relation?:1 binary:3 binary:3 binary:3 binary:3
section section:3 section:3
section_header section_header:3
section_integer integer:1 unary:2
section_line section_line?:1 difference:4 directive:2 directive:3 directive:2
section_lines section_lines:2 section_lines:0
section_literal integer:1
shift shift?:1 binary:3 binary:3
single float:1 parenthesized:3
statement statement?:1 statement?:1 statement?:1 statement?:1 statement?:1 statement?:1 statement?:1 call_prototype:5 call_prototype:6 call_prototype:5 call_prototype:4 call_prototype:4 call_prototype:5 call_prototype:4 call_prototype:3 directive:5 directive:4 directive:4 directive:4 directive:3 inner_prototype:4 inner_prototype:5 inner_prototype:4 inner_prototype:3 inner_prototype:5 inner_prototype:6 inner_prototype:5 inner_prototype:4 inner_prototype:5 inner_prototype:6 inner_prototype:5 inner_prototype:4 inner_prototype:6 inner_prototype:7 inner_prototype:6 inner_prototype:5
statements statements:2 statements:0
sum sum?:1 binary:3 binary:3
target directive:3 directive:2
target_label target_label:2 target_label:1
unary unary?:1 cast:4 unary:2 unary:2 unary:2 unary:2
unsized unsized:2
value value?:1 value?:1 binary:3 unary:2 unary:2
variable variable:5 variable:4 variable:3 variable:4 variable:3 variable:2
vector vector:4 vector:3"""

# States, a full stop between two: kinds, and for each the next state, or -1 - the rule to
# reduce; then rules, each with the next state.
STATES = """\
$KPjlULVfROQgJhiI -240  items:1 module:2.$KPjlULVfROQgJhiI -264 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 \
18  __parameter_star_5:19 _specifier:20 alignment:21 attributes:22 function:23 function_header:24 item:25 \
metadata_header:26 pragma:27 section:28 section_header:29 target:30 variable:31..o 32.rsyu 33 34 35 \
36  _name:37.o 38.( 39.rsyu 33 34 35 36  _name:40.o 41.lrs(yu 6 33 34 42 35 36  _name:43 attributes:44 \
parameters:45.jlUVghi 5 6 46 47 14 16 17  __parameter_star_5:19 _specifier:20 alignment:21 attributes:22 \
variable:48.{ 49.p 50.z 51.jlghi -61.rsyu 33 34 35 36  _name:52.rsy;u 33 34 35 53 36  _name:54 \
declarator:55.jlghi -62.n 56.jlghi 5 6 14 57 17  _specifier:58 alignment:21 attributes:22.jlghi -24.jlghi \
-59.jlghi -60.$KPjlULVfROQgJhiI -227.{; 59 60  body:61 end:62 open:63.$KPjlULVfROQgJhiI -239.TS} \
-262  metadata_lines:64.$KPjlULVfROQgJhiI -228.$KPjlULVfROQgJhiI -229.rsy}uhz \
-357  section_lines:65.$KPjlULVfROQgJhiI -230.$KPjlULVfROQgJhiI -231.$KPjlULVfROQgJhiI \
-232.$KPj@lrW:,xUaYZ=LVbcsd{<fMN([R-y+Ow})]Q;ugJXh|iIz -47.$KPj@lrW:,xUaYZ=LVbcsd{<fMN([R-y+Ow})]Q;ugJXh|iIz \
-48.$KPj@lrW:,xUaYZ=LVbcsd{<fMN([R-y+Ow})]Q;ugJXh|iIz -49.$KPj@lrW:,xUaYZ=LVbcsd{<fMN([R-y+Ow})]Q;ugJXh|iIz \
-50., 66.jlrsykughi -67.z 67  attribute:68.aYZd{(O; 69 70 71 72 -171 42 12 -171  __function_header_star_2:73 \
entry_directive:74 parameters:75 pragma:76.p 77.jle)ghi 5 6 78 79 14 80 17  __parameter_star_5:81 \
_specifier:20 alignment:21 attributes:22 parameter:82.bcd{(; 83 84 85 -175 42 \
-175  __function_header_star_3:86 func_directive:87 parameters:88.rs(yu 33 34 42 35 36  _name:89 \
parameters:90.rsyu 33 34 35 36  _name:91.rsyu 33 34 35 36  _name:92.lrs(yu 6 33 34 42 35 36  _name:93 \
attributes:94 parameters:95.$KPjlULVfROQgJhiI -238.TS} -257.,; 96 97  __pragma_star_1:98.{ \
99.$KPj@lrW,xULVs{fMNRyOw}QugJXhiI -406 -406 -406 -406 -406 -406 -406 -406 100 -406 -406 -406 -406 -406 -406 \
-406 -406 -406 -406 -406 -406 -406 -406 -406 -406 -406 -406 -406 -406 -406 \
-406  __target_star_0:101.$KPj@lrWxULVs{fMNRyOw}QugJXhiI -426.,=<[; -144 102 103 104 \
-144  __declarator_star_10:105 count:106 dimension:107 unsized:108.,; 109 \
110  __variable_star_8:111.$KPjlULVfROQgJhiI -237.rsy;u 33 34 35 112 36  _name:54 declarator:113.jlghi \
-23.j@lrWxVs{fMNyOw}ugJXhi -268.$KPjlULVfROQgJhiI -149.$KPjlULVfROQgJhiI -166.$KPjlULVfROQgJhiI \
-167.j@lrWxVs{fMNyOw}ugJXhi -401  statements:114.TS} 115 116 117  close:118 metadata_line:119.rsy}uhz 33 34 \
35 117 36 120 121  _name:122 _section_type:123 close:124 label:125 section_line:126.rsyu 33 34 35 \
36  _name:127.,() -72 128 -72.,) 129 130  __attributes_star_9:131.o 132.aYZd{O; -154.o 133.op 134 \
135  language:136.aYZd{O; 69 70 71 72 -168 12 -168  entry_directive:137 pragma:76.aYZd{O; -14.aYZd{O; 69 70 \
71 72 -170 12 -170  __function_header_star_2:138 entry_directive:74 pragma:76.aYZd{O; \
-150.$KPjl,ULVfROQgJhiI -236 -236 -236 -236 -236 139 -236 -236 -236 -236 -236 -236 -236 -236 -236 -236 -236 \
-236.jlghi 5 6 14 140 17  __parameter_star_5:141 _specifier:20 alignment:21 attributes:22.raYZbcsd{yO;u \
-325.jrsyku 5 33 34 35 142 36  _name:143 alignment:144 pointer:145.jlghi 5 6 14 146 17  _specifier:58 \
alignment:21 attributes:22.,) 147 148  __parameters_star_4:149.bcd{; -162.o 150.op 134 \
135  language:151.bcd{; 83 84 85 -172 -172  func_directive:152.bcd{; -16.bcd{; 83 84 85 -174 \
-174  __function_header_star_3:153 func_directive:87.bcd{(; 83 84 85 -179 42 \
-179  __function_header_star_3:154 func_directive:87 parameters:155.rsyu 33 34 35 36  _name:156.bcd{(; 83 84 \
85 -187 42 -187  __function_header_star_3:157 func_directive:87 parameters:158.aYZd{(O; 69 70 71 72 -191 42 \
12 -191  __function_header_star_2:159 entry_directive:74 parameters:160 pragma:76.bcd{(; 83 84 85 -195 42 \
-195  __function_header_star_3:161 func_directive:87 parameters:162.rs(yu 33 34 42 35 36  _name:163 \
parameters:164.rsyu 33 34 35 36  _name:165.p 166.$KPj@lrWxUaYZLVsd{fMNRyOw}Q;ugJXhiI -332.,; 167 168.rsy}uhz \
-348.rsyu 33 34 35 36  _name:169.$KPj@lrW,xULVs{fMNRyOw}QugJXhiI -405 -405 -405 -405 -405 -405 -405 -405 170 \
-405 -405 -405 -405 -405 -405 -405 -405 -405 -405 -405 -405 -405 -405 -405 -405 -405 -405 -405 -405 -405 \
-405.!rnso{(-y+wmu~q 171 33 172 173 174 175 176 177 35 178 179 180 36 181 182  _name:183 bit_and:184 \
bit_or:185 bit_xor:186 conditional:187 constant:188 equality:189 expression:190 generic:191 \
initial_value:192 initializer:193 logical_and:194 logical_or:195 name:196 primary:197 product:198 \
relation:199 shift:200 single:201 sum:202 unary:203.oq 204 205.o]q 206 207 208.,=[; -130 209 210 \
-130  dimension:211.,=[; -138 212 104 -138  __declarator_star_10:213 dimension:107 unsized:214.,=[; -10.,=[; \
-142 215 210 -142  __declarator_star_10:216 dimension:107.rsyu 33 34 35 36  _name:54 \
declarator:217.$KPj@lrWxULVs{fMNRyOw}QugJXhiI -425.,; 218 219.$KPj@lrWxULVs{fMNRyOw}QugJXhiI -423.,; 109 \
220  __variable_star_8:221.j@lrWxVs{fMNyOw}ugJXhi 5 222 6 223 224 225 226 34 59 227 228 229 230 12 231 117 \
36 14 15 232 16 17  __parameter_star_5:19 _name:122 _opcode:233 _specifier:20 alignment:21 attributes:22 \
body:234 call:235 close:236 guard:237 instruction:238 label:239 open:63 pragma:240 statement:241 target:242 \
variable:243.o 244.o 245.$KPj@lrWxULVs{fMNRyOw}QugJXhiI -118.$KPjlULVfROQgJhiI -346.TS} -261.rso-yuz \
-57.rso-yuz -58.: 246.rso-yuz 33 34 247 248 35 36 249  _name:250 debug_name:251 debug_symbol:252 \
label_name:253 section_integer:254.$KPjlULVfROQgJhiI -347.rsy}uhz -351.rsy}uhz -356.; 255.o 256.z \
67  attribute:257.jlrs(yughi -74.,) 258 259.,aYZd{O; 260 -153 -153 -153 -153 -153 -153 -153.aYZd{O; \
-155.,aYZbcd{O; -243.,aYZbcd{O; -244.,aYZd{O; 261 -157 -157 -157 -157 -157 -157 \
-157  __entry_directive_star_6:262.aYZd{O; -13.aYZd{O; 69 70 71 72 -169 12 -169  entry_directive:137 \
pragma:76.o 263.jrsyku 5 33 34 35 142 36  _name:264 alignment:265 pointer:266.jlghi 5 6 14 267 \
17  _specifier:58 alignment:21 attributes:22.jrsyug 5 -330 -330 -330 -330 268  alignment:269.,[) -313 104 \
-313  dimension:270 unsized:271.rsyku 33 34 35 142 36  _name:272 pointer:273.rsyu 33 34 35 \
36  _name:274.jrsyku 5 33 34 35 142 36  _name:275 alignment:276 pointer:277.jleghi 5 6 78 14 80 \
17  __parameter_star_5:81 _specifier:20 alignment:21 attributes:22 parameter:278.raYZbcsd{yO;u -324.,) 279 \
280.bcd{; -163.,bcd{; 261 -165 -165 -165 -165 -165  __entry_directive_star_6:281.bcd{; -15.bcd{; 83 84 85 \
-173 -173  func_directive:152.bcd{; 83 84 85 -176 -176  func_directive:152.bcd{; 83 84 85 -178 \
-178  __function_header_star_3:282 func_directive:87.bcd{(; 83 84 85 -183 42 \
-183  __function_header_star_3:283 func_directive:87 parameters:284.bcd{; 83 84 85 -184 \
-184  func_directive:152.bcd{; 83 84 85 -186 -186  __function_header_star_3:285 func_directive:87.aYZd{O; 69 \
70 71 72 -188 12 -188  entry_directive:137 pragma:76.aYZd{O; 69 70 71 72 -190 12 \
-190  __function_header_star_2:286 entry_directive:74 pragma:76.bcd{; 83 84 85 -192 \
-192  func_directive:152.bcd{; 83 84 85 -194 -194  __function_header_star_3:287 func_directive:87.bcd{(; 83 \
84 85 -199 42 -199  __function_header_star_3:288 func_directive:87 parameters:289.rsyu 33 34 35 \
36  _name:290.bcd{(; 83 84 85 -207 42 -207  __function_header_star_3:291 func_directive:87 parameters:292.,; \
-28.p 293.$KPj@lrWxUaYZLVsd{fMNRyOw}Q;ugJXhiI -331.$KPj@lrW,xULVs{fMNRyOw}QugJXhiI -34.rsyu 33 34 35 \
36  _name:294.!no(-+~q 171 172 295 296 177 178 181 182  primary:197 unary:297.&^:,<->%+?})];/*|HBEADFCG \
-333.,=(+});z -48 -48 298 -48 -48 -48 -48 -48.&^,<(->%+?};/*|HBEADFCG -334 -334 -334 -334 299 -334 -334 -334 \
-334 -334 -334 -334 -334 -334 -334 -334 -334 -334 -334 -334 -334 -334 -334.!rnso{(-y+w}mu~q 171 33 172 173 \
174 175 176 177 35 178 179 300 180 36 181 182  _name:183 bit_and:184 bit_or:185 bit_xor:186 conditional:187 \
constant:188 element:301 equality:189 expression:190 generic:191 initial_value:192 initializer:302 \
logical_and:194 logical_or:195 name:303 primary:197 product:198 relation:199 shift:200 single:201 sum:202 \
unary:203.!no(-+m~hq 171 172 295 176 177 178 180 181 304 182  bit_and:184 bit_or:185 bit_xor:186 \
conditional:187 equality:189 expression:305 logical_and:194 logical_or:195 primary:197 product:198 \
relation:199 shift:200 single:306 sum:202 unary:203.!no(-+~q 171 172 295 296 177 178 181 182  primary:197 \
unary:307.!no(-+~q 171 172 295 296 177 178 181 182  primary:197 unary:308.,=[+})];| -267.,}); -362.!no(-+~q \
171 172 295 296 177 178 181 182  primary:197 unary:309.&^:,<->%+?})];/*|HBEADFCG -335.,=[+})];|z -266 -266 \
-266 -266 -266 -266 -266 -266 -266 310.&^:,?})];|HB 311 -83 -83 -83 -83 -83 -83 -83 -83 -83 -83 \
-83.:,?})];|HB -245 -245 -245 -245 -245 -245 -245 312 -245 -245.^:,?})];|HB 313 -81 -81 -81 -81 -81 -81 -81 \
-81 -81 -81.:,})]; -161.,}; -211.&^:,?})];|HBEA -79 -79 -79 -79 -79 -79 -79 -79 -79 -79 -79 -79 314 315.,}); \
-121.,+}; -212 316 -212 -212.,}; -217.,; -143.:,?})];HB -247 -247 -247 -247 -247 -247 -247 -247 317.:,?})];H \
-119 -119 318 -119 -119 -119 -119 319.,+}; -213 320 -213 -213.&^:,<->%+?})];/*|HBEADFCG \
-409.&^:,<->%+?})];/*|HBEADFCG -402 -402 -402 -402 -402 -402 -402 321 -402 -402 -402 -402 -402 -402 322 323 \
-402 -402 -402 -402 -402 -402 -402 -402 -402.&^:,<>?})];|HBEADF -158 -158 -158 -158 324 325 -158 -158 -158 \
-158 -158 -158 -158 -158 -158 -158 326 327.&^:,<>?})];|HBEADFCG -341 -341 -341 -341 -341 -341 -341 -341 -341 \
-341 -341 -341 -341 -341 -341 -341 -341 -341 328 329.,}); -122.&^:,<->+?})];|HBEADFCG -359 -359 -359 -359 \
-359 330 -359 331 -359 -359 -359 -359 -359 -359 -359 -359 -359 -359 -359 -359 -359 \
-359.&^:,<->%+?})];/*|HBEADFCG -337.> 332.> 333.] 334.,=[); -415.] 335.!rnso{(-y+wmu~q 171 33 172 173 174 \
175 176 177 35 178 179 180 36 181 182  _name:183 bit_and:184 bit_or:185 bit_xor:186 conditional:187 \
constant:188 equality:189 expression:190 generic:191 initial_value:192 initializer:336 logical_and:194 \
logical_or:195 name:196 primary:197 product:198 relation:199 shift:200 single:201 sum:202 unary:203.oq 206 \
208.,=[; -9.!rnso{(-y+wmu~q 171 33 172 173 174 175 176 177 35 178 179 180 36 181 182  _name:183 bit_and:184 \
bit_or:185 bit_xor:186 conditional:187 constant:188 equality:189 expression:190 generic:191 \
initial_value:192 initializer:337 logical_and:194 logical_or:195 name:196 primary:197 product:198 \
relation:199 shift:200 single:201 sum:202 unary:203.,=[; -132 338 210 -132  dimension:211.,=[; -136 339 210 \
-136  __declarator_star_10:340 dimension:107.!rnso{(-y+wmu~q 171 33 172 173 174 175 176 177 35 178 179 180 \
36 181 182  _name:183 bit_and:184 bit_or:185 bit_xor:186 conditional:187 constant:188 equality:189 \
expression:190 generic:191 initial_value:192 initializer:341 logical_and:194 logical_or:195 name:196 \
primary:197 product:198 relation:199 shift:200 single:201 sum:202 unary:203.,=[; -140 342 210 \
-140  dimension:211.,; -36.rsyu 33 34 35 36  _name:54 declarator:343.$KPj@lrWxULVs{fMNRyOw}QugJXhiI \
-424.$KPj@lrWxULVs{fMNRyOw}QugJXhiI -422.,; 218 344.!rsyu 345 33 34 35 36  _name:346.r:sf(ywughiz 33 -47 34 \
347 348 35 179 36 349 350 351 352  ___opcode_star_15:353 _modifier:354 _name:183 arguments:355 name:356.(u \
42 357  parameters:358.!rnso{f([-y+w;mug~hiqz -52 -52 -52 -52 -52 -52 347 -52 -52 -52 -52 -52 -52 -52 -52 \
-52 349 -52 350 351 -52 352  ___opcode_star_15:359 _modifier:354.rs(yu 33 34 42 35 36  _name:360 \
parameters:361.V 362.o 363.o 364.!r:nso{f([-y+w;mug~hiqz -54 -54 -49 -54 -54 -54 -54 347 -54 -54 -54 -54 -54 \
-54 -54 -54 -54 349 -54 350 351 -54 352  ___opcode_star_15:365 _modifier:354.!rnso{f([-y+w;mug~hiqz -56 -56 \
-56 -56 -56 -56 347 -56 -56 -56 -56 -56 -56 -56 -56 -56 349 -56 350 351 -56 352  ___opcode_star_15:366 \
_modifier:354.rsyu 33 34 35 36  _name:367 target_label:368.!rnso{([-y+w;mu~q 369 33 172 34 295 370 176 371 \
372 35 178 179 373 180 36 181 182  _name:183 address:374 bit_and:184 bit_or:185 bit_xor:186 conditional:187 \
constant:375 equality:189 expression:190 logical_and:194 logical_or:195 name:376 operand:377 primary:197 \
product:198 relation:199 shift:200 single:201 sum:202 unary:203 value:378 vector:379.j@lrWxVs{fMNyOw}ugJXhi \
-364.j@lrWxVs{fMNyOw}ugJXhi -365.$KPj@lrWxULVs{fMNRyOw}QugJXhiI -85.rxyw 380 225 381 \
231  _opcode:382.j@lrWxVs{fMNyOw}ugJXhi -366.j@lrWxVs{fMNyOw}ugJXhi -367.j@lrWxVs{fMNyOw}ugJXhi \
-368.j@lrWxVs{fMNyOw}ugJXhi -400.j@lrWxVs{fMNyOw}ugJXhi -369.j@lrWxVs{fMNyOw}ugJXhi -370.{ \
383  metadata_fields:384.TS} -260.j@lrWxVs{fMNyOw}ugJXhiz -241.r,sy}uhz -349.o \
385  section_literal:386.r,sy+}uhz -126.rs-y+}uhz -125 -125 -242 -125 -125 -125 -125 -125 -125.r,sy+}uhz \
-127 -127 -127 -127 387 -127 -127 -127 -127.rsy}uhz -353.- 388.r,sy}uhz -355 389 -355 -355 -355 -355 -355 \
-355  __section_line_star_12:390.$KPjlULVfROQgJhiI -233., 391.,) -8.z 67  attribute:392.jlrs(yughi -73.o \
393.op 134 135  language:394.,aYZd{O; 395 -156 -156 -156 -156 -156 -156 -156.$KPjl,ULVfROQgJhiI -235 -235 \
-235 -235 -235 396 -235 -235 -235 -235 -235 -235 -235 -235 -235 -235 -235 -235.,[) -301 104 \
-301  dimension:397 unsized:398.rsyku 33 34 35 142 36  _name:399 pointer:400.rsyu 33 34 35 \
36  _name:401.jrsyku 5 33 34 35 142 36  _name:402 alignment:403 pointer:404.jrsyu 5 -329 -329 -329 \
-329  alignment:405.rsyu -327.,) -311.,) -312.,[) -316 104 -316  dimension:406 unsized:407.rsyu 33 34 35 \
36  _name:408.,[) -322 104 -322  dimension:409 unsized:410.,[) -277 104 -277  dimension:411 \
unsized:412.rsyku 33 34 35 142 36  _name:413 pointer:414.rsyu 33 34 35 36  _name:415.,) -26.jleghi 5 6 78 14 \
80 17  __parameter_star_5:81 _specifier:20 alignment:21 attributes:22 parameter:416.raYZbcsd{yO;u \
-323.,bcd{; 395 -164 -164 -164 -164 -164.bcd{; 83 84 85 -177 -177  func_directive:152.bcd{; 83 84 85 -180 \
-180  func_directive:152.bcd{; 83 84 85 -182 -182  __function_header_star_3:417 func_directive:87.bcd{; 83 \
84 85 -185 -185  func_directive:152.aYZd{O; 69 70 71 72 -189 12 -189  entry_directive:137 pragma:76.bcd{; 83 \
84 85 -193 -193  func_directive:152.bcd{; 83 84 85 -196 -196  func_directive:152.bcd{; 83 84 85 -198 \
-198  __function_header_star_3:418 func_directive:87.bcd{(; 83 84 85 -203 42 \
-203  __function_header_star_3:419 func_directive:87 parameters:420.bcd{; 83 84 85 -204 \
-204  func_directive:152.bcd{; 83 84 85 -206 -206  __function_header_star_3:421 func_directive:87.,; \
-27.$KPj@lrW,xULVs{fMNRyOw}QugJXhiI -33.&^:,<->%+?})];/*|HBEADFCG -334.!no(-+~hq 171 172 295 296 177 178 181 \
304 182  bit_and:184 bit_or:185 bit_xor:186 conditional:187 equality:189 expression:305 logical_and:194 \
logical_or:195 primary:197 product:198 relation:199 shift:200 sum:202 unary:203.&^:,<->%+?})];/*|HBEADFCG \
-411.rsywu 33 34 35 179 36  _name:183 name:422.!rnso(-y+wu~q 171 33 172 173 295 296 177 35 178 179 36 181 \
182  _name:183 bit_and:184 bit_or:185 bit_xor:186 conditional:187 equality:189 expression:423 generic:424 \
logical_and:194 logical_or:195 masked:425 name:426 primary:197 product:198 relation:199 shift:200 sum:202 \
unary:203.,}; -220.,} 427 428  __initializer_star_11:429.,} -147.,=+} -213 430 320 -213.) 431.) 432.) \
433.&^:,<->%+?})];/*|HBEADFCG -412.&^:,<->%+?})];/*|HBEADFCG -413.&^:,<->%+?})];/*|HBEADFCG -414.,=[+})];| \
-265.!no(-+~q 171 172 295 296 177 178 181 182  equality:434 primary:197 product:198 relation:199 shift:200 \
sum:202 unary:203.!no(-+~q 171 172 295 296 177 178 181 182  bit_and:184 bit_xor:435 equality:189 primary:197 \
product:198 relation:199 shift:200 sum:202 unary:203.!no(-+~q 171 172 295 296 177 178 181 182  bit_and:436 \
equality:189 primary:197 product:198 relation:199 shift:200 sum:202 unary:203.!no(-+~q 171 172 295 296 177 \
178 181 182  primary:197 product:198 relation:437 shift:200 sum:202 unary:203.!no(-+~q 171 172 295 296 177 \
178 181 182  primary:197 product:198 relation:438 shift:200 sum:202 unary:203.!no(-+~q 171 172 295 296 177 \
178 181 182  bit_and:184 bit_or:185 bit_xor:186 conditional:187 equality:189 expression:439 logical_and:194 \
logical_or:195 primary:197 product:198 relation:199 shift:200 sum:202 unary:203.!no(-+~q 171 172 295 296 177 \
178 181 182  bit_and:184 bit_or:440 bit_xor:186 equality:189 primary:197 product:198 relation:199 shift:200 \
sum:202 unary:203.!no(-+~q 171 172 295 296 177 178 181 182  bit_and:184 bit_or:185 bit_xor:186 \
conditional:187 equality:189 expression:441 logical_and:194 logical_or:195 primary:197 product:198 \
relation:199 shift:200 sum:202 unary:203.!no(-+~q 171 172 295 296 177 178 181 182  bit_and:184 bit_or:185 \
bit_xor:186 equality:189 logical_and:442 primary:197 product:198 relation:199 shift:200 sum:202 \
unary:203.!no(-+~q 171 172 295 296 177 178 181 182  bit_and:184 bit_or:185 bit_xor:186 conditional:187 \
equality:189 expression:443 logical_and:194 logical_or:195 primary:197 product:198 relation:199 shift:200 \
sum:202 unary:203.!no(-+~q 171 172 295 296 177 178 181 182  primary:197 unary:444.!no(-+~q 171 172 295 296 \
177 178 181 182  primary:197 unary:445.!no(-+~q 171 172 295 296 177 178 181 182  primary:197 \
unary:446.!no(-+~q 171 172 295 296 177 178 181 182  primary:197 product:198 shift:447 sum:202 \
unary:203.!no(-+~q 171 172 295 296 177 178 181 182  primary:197 product:198 shift:448 sum:202 \
unary:203.!no(-+~q 171 172 295 296 177 178 181 182  primary:197 product:198 shift:449 sum:202 \
unary:203.!no(-+~q 171 172 295 296 177 178 181 182  primary:197 product:198 shift:450 sum:202 \
unary:203.!no(-+~q 171 172 295 296 177 178 181 182  primary:197 product:198 sum:451 unary:203.!no(-+~q 171 \
172 295 296 177 178 181 182  primary:197 product:198 sum:452 unary:203.!no(-+~q 171 172 295 296 177 178 181 \
182  primary:197 product:453 unary:203.!no(-+~q 171 172 295 296 177 178 181 182  primary:197 product:454 \
unary:203.,=[; -123.,=[; -124.,=[); -145.,=[); -146.,; -129.,; -137.!rnso{(-y+wmu~q 171 33 172 173 174 175 \
176 177 35 178 179 180 36 181 182  _name:183 bit_and:184 bit_or:185 bit_xor:186 conditional:187 constant:188 \
equality:189 expression:190 generic:191 initial_value:192 initializer:455 logical_and:194 logical_or:195 \
name:196 primary:197 product:198 relation:199 shift:200 single:201 sum:202 unary:203.!rnso{(-y+wmu~q 171 33 \
172 173 174 175 176 177 35 178 179 180 36 181 182  _name:183 bit_and:184 bit_or:185 bit_xor:186 \
conditional:187 constant:188 equality:189 expression:190 generic:191 initial_value:192 initializer:456 \
logical_and:194 logical_or:195 name:196 primary:197 product:198 relation:199 shift:200 single:201 sum:202 \
unary:203.,=[; -134 457 210 -134  dimension:211.,; -141.!rnso{(-y+wmu~q 171 33 172 173 174 175 176 177 35 \
178 179 180 36 181 182  _name:183 bit_and:184 bit_or:185 bit_xor:186 conditional:187 constant:188 \
equality:189 expression:190 generic:191 initial_value:192 initializer:458 logical_and:194 logical_or:195 \
name:196 primary:197 product:198 relation:199 shift:200 single:201 sum:202 unary:203.,; \
-35.$KPj@lrWxULVs{fMNRyOw}QugJXhiI -421.rsyu 33 34 35 36  _name:459.rxyw -209.!rnso{f([-y+w;mug~hiqz \
-42.!rnso{([-y+w)mu~q 369 33 172 34 295 370 176 371 372 35 178 179 460 180 36 181 182  _name:183 address:374 \
bit_and:184 bit_or:185 bit_xor:186 conditional:187 constant:375 equality:189 expression:190 logical_and:194 \
logical_or:195 name:376 operand:461 primary:197 product:198 relation:199 shift:200 single:201 sum:202 \
unary:203 value:378 vector:379.!rnso{f([-y+w;mug~hiqz -43.!rnso{f([-y+w;mug~hiqz -44.!rnso{f([-y+w;mug~hiqz \
-45.!rnso{f([-y+w;mug~hiqz -46.rsf(ywughiz 33 34 347 348 35 179 36 349 350 351 352  _modifier:462 _name:183 \
arguments:463 name:464.!rnso{f([-y+w;mug~hiqz -2., 465.,; 466 467.bcd(; 83 84 85 42 \
468  __function_header_star_3:469 func_directive:87 parameters:470.u 471.!rnso{f([-y+w;mug~hiqz -51 -51 -51 \
-51 -51 -51 347 -51 -51 -51 -51 -51 -51 -51 -51 -51 349 -51 350 351 -51 352  _modifier:462.bcd(; 83 84 85 42 \
472  __function_header_star_3:473 func_directive:87 parameters:474.rsyu 33 34 35 36  _name:475.rs(yu 33 34 \
42 35 36  _name:476 parameters:477.o 478.o 479.!rnso{f([-y+w;mug~hiqz -53 -53 -53 -53 -53 -53 347 -53 -53 \
-53 -53 -53 -53 -53 -53 -53 349 -53 350 351 -53 352  _modifier:462.!rnso{f([-y+w;mug~hiqz -55 -55 -55 -55 \
-55 -55 347 -55 -55 -55 -55 -55 -55 -55 -55 -55 349 -55 350 351 -55 352  _modifier:462.,<; -408 103 \
-408  count:480.,; 481 482  __statement_star_7:483.!rnso(-y+wu~q 171 33 172 34 295 296 177 35 178 179 36 181 \
182  _name:183 name:484 primary:197 unary:297.!rnso(-y+wmu~q 369 33 172 34 295 176 372 35 178 179 180 36 181 \
182  _name:183 bit_and:184 bit_or:185 bit_xor:186 conditional:187 constant:375 equality:189 expression:190 \
logical_and:194 logical_or:195 name:485 primary:197 product:198 relation:199 shift:200 single:201 sum:202 \
unary:203 value:486.!rnso(-y+u~q 171 33 172 34 295 296 177 35 178 36 181 182  _name:487 base:488 bit_and:184 \
bit_or:185 bit_xor:186 conditional:187 equality:189 expression:489 logical_and:194 logical_or:195 \
plain_name:490 primary:197 product:198 relation:199 shift:200 sum:202 unary:203.!rnso(-y+wu~q 171 33 172 34 \
295 296 177 35 178 179 36 181 182  _name:183 name:491 primary:197 unary:307.j@lrWxVs{fMNyOw}ugJXhi -223.,); \
-269.,}); -416.,[+);| -417 492 493 -417 -417 494.,; 495 496  __instruction_star_14:497.,); -270.,);| -271 \
-271 -271 498.rsf(ywughiz 33 34 347 348 35 179 36 349 350 351 352  ___opcode_star_15:499 _modifier:354 \
_name:183 arguments:500 name:501.!rnso{f([-y+w;mug~hiqz -54 -54 -54 -54 -54 -54 347 -54 -54 -54 -54 -54 -54 \
-54 -54 -54 349 -54 350 351 -54 352  ___opcode_star_15:365 _modifier:354.!rnso{([-y+w;mu~q 369 33 172 34 295 \
370 176 371 372 35 178 179 502 180 36 181 182  _name:183 address:374 bit_and:184 bit_or:185 bit_xor:186 \
conditional:187 constant:375 equality:189 expression:190 logical_and:194 logical_or:195 name:376 operand:503 \
primary:197 product:198 relation:199 shift:200 single:201 sum:202 unary:203 value:378 vector:379.p \
504  metadata_string:505.TS} -259.r,sy}uhz -358.r,sy}uhz -350.o- 247 248  section_integer:506.rsyu 33 34 35 \
36  _name:507 label_name:508.o- 247 248  section_integer:509.r,sy}uhz -354 510 -354 -354 -354 -354 -354 \
-354.o 511.,) -7.,aYZd{O; 512 -152 -152 -152 -152 -152 -152 -152.,aYZbcd{O; -12.op 134 135  language:513.o \
514.,) -299.,) -300.,[) -304 104 -304  dimension:515 unsized:516.rsyu 33 34 35 36  _name:517.,[) -310 104 \
-310  dimension:518 unsized:519.,[) -289 104 -289  dimension:520 unsized:521.rsyku 33 34 35 142 \
36  _name:522 pointer:523.rsyu 33 34 35 36  _name:524.rsyu -328.,) -314.,) -315.,[) -319 104 \
-319  dimension:525 unsized:526.,) -320.,) -321.,) -275.,) -276.,[) -280 104 -280  dimension:527 \
unsized:528.rsyu 33 34 35 36  _name:529.,[) -286 104 -286  dimension:530 unsized:531.,) -25.bcd{; 83 84 85 \
-181 -181  func_directive:152.bcd{; 83 84 85 -197 -197  func_directive:152.bcd{; 83 84 85 -200 \
-200  func_directive:152.bcd{; 83 84 85 -202 -202  __function_header_star_3:532 func_directive:87.bcd{; 83 \
84 85 -205 -205  func_directive:152.) 533.) -249.+) 534 -250.) 535.+) 536 -251.!rnso{(-y+wmu~q 171 33 172 \
173 174 175 176 177 35 178 179 180 36 181 182  _name:183 bit_and:184 bit_or:185 bit_xor:186 conditional:187 \
constant:188 element:537 equality:189 expression:190 generic:191 initial_value:192 initializer:302 \
logical_and:194 logical_or:195 name:303 primary:197 product:198 relation:199 shift:200 single:201 sum:202 \
unary:203.,}; -219.,} 538 539.!rnso(-y+wmu~q 171 33 172 173 174 176 177 35 178 179 180 36 181 182  _name:183 \
bit_and:184 bit_or:185 bit_xor:186 conditional:187 constant:188 equality:189 expression:190 generic:191 \
initial_value:540 logical_and:194 logical_or:195 name:196 primary:197 product:198 relation:199 shift:200 \
single:201 sum:202 unary:203.!no(-+~q 171 172 295 296 177 178 181 182  primary:197 \
unary:541.&^:,<->%+?})];/*|HBEADFCG -336.,}); -363.&^:,?})];|HBEA -80 -80 -80 -80 -80 -80 -80 -80 -80 -80 \
-80 -80 314 315.^:,?})];|HB 313 -82 -82 -82 -82 -82 -82 -82 -82 -82 -82.&^:,?})];|HB 311 -84 -84 -84 -84 -84 \
-84 -84 -84 -84 -84 -84.&^:,<>?})];|HBEADF -159 -159 -159 -159 324 325 -159 -159 -159 -159 -159 -159 -159 \
-159 -159 -159 326 327.&^:,<>?})];|HBEADF -160 -160 -160 -160 324 325 -160 -160 -160 -160 -160 -160 -160 \
-160 -160 -160 326 327.,}; -214.:,?})];|HB -246 -246 -246 -246 -246 -246 -246 312 -246 -246.: 542.:,?})];HB \
-248 -248 -248 -248 -248 -248 -248 -248 317.,}; -215.&^:,<->%+?})];/*|HBEADFCG \
-338.&^:,<->%+?})];/*|HBEADFCG -339.&^:,<->%+?})];/*|HBEADFCG -340.&^:,<>?})];|HBEADFCG -342 -342 -342 -342 \
-342 -342 -342 -342 -342 -342 -342 -342 -342 -342 -342 -342 -342 -342 328 329.&^:,<>?})];|HBEADFCG -343 -343 \
-343 -343 -343 -343 -343 -343 -343 -343 -343 -343 -343 -343 -343 -343 -343 -343 328 329.&^:,<>?})];|HBEADFCG \
-344 -344 -344 -344 -344 -344 -344 -344 -344 -344 -344 -344 -344 -344 -344 -344 -344 -344 328 \
329.&^:,<>?})];|HBEADFCG -345 -345 -345 -345 -345 -345 -345 -345 -345 -345 -345 -345 -345 -345 -345 -345 \
-345 -345 328 329.&^:,<->+?})];|HBEADFCG -360 -360 -360 -360 -360 330 -360 331 -360 -360 -360 -360 -360 -360 \
-360 -360 -360 -360 -360 -360 -360 -360.&^:,<->+?})];|HBEADFCG -361 -361 -361 -361 -361 330 -361 331 -361 \
-361 -361 -361 -361 -361 -361 -361 -361 -361 -361 -361 -361 -361.&^:,<->%+?})];/*|HBEADFCG -403 -403 -403 \
-403 -403 -403 -403 321 -403 -403 -403 -403 -403 -403 322 323 -403 -403 -403 -403 -403 -403 -403 -403 \
-403.&^:,<->%+?})];/*|HBEADFCG -404 -404 -404 -404 -404 -404 -404 321 -404 -404 -404 -404 -404 -404 322 323 \
-404 -404 -404 -404 -404 -404 -404 -404 -404.,; -131.,; -135.!rnso{(-y+wmu~q 171 33 172 173 174 175 176 177 \
35 178 179 180 36 181 182  _name:183 bit_and:184 bit_or:185 bit_xor:186 conditional:187 constant:188 \
equality:189 expression:190 generic:191 initial_value:192 initializer:543 logical_and:194 logical_or:195 \
name:196 primary:197 product:198 relation:199 shift:200 single:201 sum:202 unary:203.,; -139.rxyw -210.,; \
-70.,) 495 544  __instruction_star_14:545.!rnso{f([-y+w;mug~hiqz -1., 546.,; 547 548.rsywu 33 34 35 179 \
36  _name:183 name:549.rs(ywu 33 34 348 35 179 36  _name:183 arguments:550 name:551.j@lrWxVs{fMNyOw}ugJXhi \
-117.j@lrWxVs{fMNyOw}ugJXhi -378.bcd; 83 84 85 552  func_directive:152.bcd; 83 84 85 \
553  __function_header_star_3:554 func_directive:87.bcd(; 83 84 85 42 555  __function_header_star_3:556 \
func_directive:87 parameters:557.j@lrWxVs{fMNyOw}ugJXhi -387.bcd; 83 84 85 558  func_directive:152.bcd; 83 \
84 85 559  __function_header_star_3:560 func_directive:87.bcd(; 83 84 85 42 \
561  __function_header_star_3:562 func_directive:87 parameters:563.bcd(; 83 84 85 42 \
564  __function_header_star_3:565 func_directive:87 parameters:566.rsyu 33 34 35 36  _name:567.o 568.o \
569.,; -407.rsyu 33 34 35 36  _name:367 target_label:570.j@lrWxVs{fMNyOw}ugJXhi -383.,; 571 572.,}); \
-419.,+} -417 493 -417.,} 573 574  __vector_star_16:575.,-+] -326.,] 576 577  __address_star_17:578.,] \
-75.,-+] -76 579 580 -76.,}); -420.!rnso(-y+wu~q 171 33 172 34 295 296 177 35 178 179 36 181 182  _index:581 \
_name:183 bit_and:184 bit_or:185 bit_xor:186 conditional:187 equality:189 expression:582 logical_and:194 \
logical_or:195 name:583 primary:197 product:198 relation:199 shift:200 sum:202 unary:203.!no(-+~q 171 172 \
295 296 177 178 181 182  bit_and:184 bit_or:185 bit_xor:186 conditional:187 equality:189 expression:584 \
logical_and:194 logical_or:195 primary:197 product:198 relation:199 shift:200 sum:202 unary:203.rsywu 33 34 \
35 179 36  _name:183 name:585.!rnso{([-y+wmu~q 369 33 172 34 295 370 176 371 372 35 178 179 180 36 181 \
182  _name:183 address:374 bit_and:184 bit_or:185 bit_xor:186 conditional:187 constant:375 equality:189 \
expression:190 logical_and:194 logical_or:195 name:376 operand:586 primary:197 product:198 relation:199 \
shift:200 single:201 sum:202 unary:203 value:378 vector:379.j@lrWxVs{fMNyOw}ugJXhi -222.,; 587 588.rsywu 33 \
34 35 179 36  _name:183 name:589.rsf(ywughiz 33 34 347 348 35 179 36 349 350 351 352  _modifier:462 \
_name:183 arguments:590 name:591., 592.,; 593 594.j@lrWxVs{fMNyOw}ugJXhi -226.,; 495 \
595  __instruction_star_14:596.,} -263., 597  __metadata_fields_plus_13:598.r,sy}uhz -128.rsy}uhz \
-242.rsy}uhz -352.r,sy}uhz -30.o- 247 248  section_integer:599.) 600.o 601.,aYZbcd{O; -11.$KPjlULVfROQgJhiI \
-234.,) -302.,) -303.,[) -307 104 -307  dimension:602 unsized:603.,) -308.,) -309.,) -287.,) -288.,[) -292 \
104 -292  dimension:604 unsized:605.rsyu 33 34 35 36  _name:606.,[) -298 104 -298  dimension:607 \
unsized:608.,) -317.,) -318.,) -278.,) -279.,[) -283 104 -283  dimension:609 unsized:610.,) -284.,) \
-285.bcd{; 83 84 85 -201 -201  func_directive:152.,+}); -208.!no(-+~q 171 172 295 296 177 178 181 \
182  bit_and:184 bit_or:185 bit_xor:186 conditional:187 equality:189 expression:611 logical_and:194 \
logical_or:195 primary:197 product:198 relation:199 shift:200 sum:202 unary:203.,}; -216.!no(-+~q 171 172 \
295 296 177 178 181 182  bit_and:184 bit_or:185 bit_xor:186 conditional:187 equality:189 expression:612 \
logical_and:194 logical_or:195 primary:197 product:198 relation:199 shift:200 sum:202 unary:203.,} \
-18.!rnso{(-y+wmu~q 171 33 172 173 174 175 176 177 35 178 179 180 36 181 182  _name:183 bit_and:184 \
bit_or:185 bit_xor:186 conditional:187 constant:188 element:613 equality:189 expression:190 generic:191 \
initial_value:192 initializer:302 logical_and:194 logical_or:195 name:303 primary:197 product:198 \
relation:199 shift:200 single:201 sum:202 unary:203.,}; -218.,} -148.&^:,<->%+?})];/*|HBEADFCG -410.!no(-+~q \
171 172 295 296 177 178 181 182  bit_and:184 bit_or:185 bit_xor:186 conditional:614 equality:189 \
logical_and:194 logical_or:195 primary:197 product:198 relation:199 shift:200 sum:202 unary:203.,; -133.,; \
-69.,) 587 615.rsywu 33 34 35 179 36  _name:183 name:616.rs(ywu 33 34 348 35 179 36  _name:183 arguments:617 \
name:618.j@lrWxVs{fMNyOw}ugJXhi -109.,; 619 620.,; 621 622.; 623.j@lrWxVs{fMNyOw}ugJXhi \
-375.j@lrWxVs{fMNyOw}ugJXhi -377.bcd; 83 84 85 624  func_directive:152.j@lrWxVs{fMNyOw}ugJXhi -374.bcd; 83 \
84 85 625  func_directive:152.bcd; 83 84 85 626  __function_header_star_3:627 \
func_directive:87.j@lrWxVs{fMNyOw}ugJXhi -384.j@lrWxVs{fMNyOw}ugJXhi -386.bcd; 83 84 85 \
628  func_directive:152.j@lrWxVs{fMNyOw}ugJXhi -391.bcd; 83 84 85 629  func_directive:152.bcd; 83 84 85 \
630  __function_header_star_3:631 func_directive:87.j@lrWxVs{fMNyOw}ugJXhi -395.bcd; 83 84 85 \
632  func_directive:152.bcd; 83 84 85 633  __function_header_star_3:634 func_directive:87.bcd(; 83 84 85 42 \
635  __function_header_star_3:636 func_directive:87 parameters:637.j@lrW,xVs{fMNyOw}ugJXhi -380 -380 -380 \
-380 -380 638 -380 -380 -380 -380 -380 -380 -380 -380 -380 -380 -380 -380 -380 -380 -380 -380 \
-380  _inlined:639.j@lrWxVs{fMNyOw}ugJXhi -381.,; -32.rsyu 33 34 35 36  _name:367 \
target_label:640.j@lrWxVs{fMNyOw}ugJXhi -382.!rnso(-y+wmu~q 369 33 172 34 295 176 372 35 178 179 180 36 181 \
182  _name:183 bit_and:184 bit_or:185 bit_xor:186 conditional:187 constant:375 equality:189 expression:190 \
logical_and:194 logical_or:195 name:485 primary:197 product:198 relation:199 shift:200 single:201 sum:202 \
unary:203 value:641.,)];| -428.,} 642 643.rs{ywu 33 34 370 35 179 36  _name:183 name:644 vector:645.,);z -66 \
-66 -66 646.,] 647 648.!no(-+~q 171 172 295 296 177 178 181 182  bit_and:184 bit_or:185 bit_xor:186 \
conditional:187 equality:189 expression:649 logical_and:194 logical_or:195 primary:197 product:198 \
relation:199 shift:200 sum:202 unary:203.!no(-+~q 171 172 295 296 177 178 181 182  bit_and:184 bit_or:185 \
bit_xor:186 conditional:187 equality:189 expression:650 logical_and:194 logical_or:195 primary:197 \
product:198 relation:199 shift:200 sum:202 unary:203.] 651.] -39.] -40.,}); -418.,); -273.,); \
-20.!rnso{([-y+wmu~q 369 33 172 34 295 370 176 371 372 35 178 179 180 36 181 182  _name:183 address:374 \
bit_and:184 bit_or:185 bit_xor:186 conditional:187 constant:375 equality:189 expression:190 logical_and:194 \
logical_or:195 name:376 operand:652 primary:197 product:198 relation:199 shift:200 single:201 sum:202 \
unary:203 value:378 vector:379.j@lrWxVs{fMNyOw}ugJXhi -221.,); -274., 653.,; 654 655.rsywu 33 34 35 179 \
36  _name:183 name:656.rs(ywu 33 34 348 35 179 36  _name:183 arguments:657 name:658.j@lrWxVs{fMNyOw}ugJXhi \
-101.j@lrWxVs{fMNyOw}ugJXhi -225.,; 587 659.ph 504 660  metadata_field:661 metadata_string:662.,} 663 \
664.r,sy}uhz -29.,) -71.aYZd{O; -151.,) -305.,) -306.,) -290.,) -291.,[) -295 104 -295  dimension:665 \
unsized:666.,) -296.,) -297.,) -281.,) -282.) -252.) -253.,} -17.:,})]; -120.,; -68.,; 667 668.,; 669 670.; \
671.rs(ywu 33 34 348 35 179 36  _name:183 arguments:672 name:673.j@lrWxVs{fMNyOw}ugJXhi -113.rsywu 33 34 35 \
179 36  _name:183 name:674.j@lrWxVs{fMNyOw}ugJXhi -115.j@lrWxVs{fMNyOw}ugJXhi -116.j@lrWxVs{fMNyOw}ugJXhi \
-376.j@lrWxVs{fMNyOw}ugJXhi -371.j@lrWxVs{fMNyOw}ugJXhi -373.bcd; 83 84 85 \
675  func_directive:152.j@lrWxVs{fMNyOw}ugJXhi -385.j@lrWxVs{fMNyOw}ugJXhi -388.j@lrWxVs{fMNyOw}ugJXhi \
-390.bcd; 83 84 85 676  func_directive:152.j@lrWxVs{fMNyOw}ugJXhi -392.j@lrWxVs{fMNyOw}ugJXhi -394.bcd; 83 \
84 85 677  func_directive:152.j@lrWxVs{fMNyOw}ugJXhi -399.bcd; 83 84 85 678  func_directive:152.bcd; 83 84 \
85 679  __function_header_star_3:680 func_directive:87.t 681.j@lrWxVs{fMNyOw}ugJXhi -379.,; -31.,} \
-38.!rnso(-y+wmu~q 369 33 172 34 295 176 372 35 178 179 180 36 181 182  _name:183 bit_and:184 bit_or:185 \
bit_xor:186 conditional:187 constant:375 equality:189 expression:190 logical_and:194 logical_or:195 name:485 \
primary:197 product:198 relation:199 shift:200 single:201 sum:202 unary:203 value:682.,)];| -427.,] -5.,] \
-6.,); -65.rs{ywu 33 34 370 35 179 36  _name:183 name:683 vector:684.,);z -64 -64 -64 685.,] -77.,] -78.,); \
-272.,); -19.rsywu 33 34 35 179 36  _name:183 name:686.rs(ywu 33 34 348 35 179 36  _name:183 arguments:687 \
name:688.j@lrWxVs{fMNyOw}ugJXhi -93.,; 689 690.,; 691 692.; 693.j@lrWxVs{fMNyOw}ugJXhi -224.o \
694  metadata_integer:695.,} -22.,} -254.ph 504 660  metadata_field:696 metadata_string:662.TS} -256.,) \
-293.,) -294.rs(ywu 33 34 348 35 179 36  _name:183 arguments:697 name:698.j@lrWxVs{fMNyOw}ugJXhi -105.rsywu \
33 34 35 179 36  _name:183 name:699.j@lrWxVs{fMNyOw}ugJXhi -107.j@lrWxVs{fMNyOw}ugJXhi -108.,; 700 701.; \
702.; 703.j@lrWxVs{fMNyOw}ugJXhi -372.j@lrWxVs{fMNyOw}ugJXhi -389.j@lrWxVs{fMNyOw}ugJXhi \
-393.j@lrWxVs{fMNyOw}ugJXhi -396.j@lrWxVs{fMNyOw}ugJXhi -398.bcd; 83 84 85 704  func_directive:152.rsyuz 33 \
34 35 36 249  _name:705 debug_name:251 debug_symbol:706.,} -37.,] -3.,] -4.,); -63.,; 707 708.,; 709 710.; \
711.rs(ywu 33 34 348 35 179 36  _name:183 arguments:712 name:713.j@lrWxVs{fMNyOw}ugJXhi -97.rsywu 33 34 35 \
179 36  _name:183 name:714.j@lrWxVs{fMNyOw}ugJXhi -99.j@lrWxVs{fMNyOw}ugJXhi -100.,} -258.,} -255.,} -21.,; \
715 716.; 717.; 718.rsywu 33 34 35 179 36  _name:183 name:719.j@lrWxVs{fMNyOw}ugJXhi \
-111.j@lrWxVs{fMNyOw}ugJXhi -112.j@lrWxVs{fMNyOw}ugJXhi -114.j@lrWxVs{fMNyOw}ugJXhi -397.,+ -125., \
720.rs(ywu 33 34 348 35 179 36  _name:183 arguments:721 name:722.j@lrWxVs{fMNyOw}ugJXhi -89.rsywu 33 34 35 \
179 36  _name:183 name:723.j@lrWxVs{fMNyOw}ugJXhi -91.j@lrWxVs{fMNyOw}ugJXhi -92.,; 724 725.; 726.; \
727.rsywu 33 34 35 179 36  _name:183 name:728.j@lrWxVs{fMNyOw}ugJXhi -103.j@lrWxVs{fMNyOw}ugJXhi \
-104.j@lrWxVs{fMNyOw}ugJXhi -106.; 729.v 730.,; 731 732.; 733.; 734.rsywu 33 34 35 179 36  _name:183 \
name:735.j@lrWxVs{fMNyOw}ugJXhi -95.j@lrWxVs{fMNyOw}ugJXhi -96.j@lrWxVs{fMNyOw}ugJXhi -98.; \
736.j@lrWxVs{fMNyOw}ugJXhi -110.o 737.rsywu 33 34 35 179 36  _name:183 name:738.j@lrWxVs{fMNyOw}ugJXhi \
-87.j@lrWxVs{fMNyOw}ugJXhi -88.j@lrWxVs{fMNyOw}ugJXhi -90.; 739.j@lrWxVs{fMNyOw}ugJXhi -102.o 740.; \
741.j@lrWxVs{fMNyOw}ugJXhi -94.o 742.j@lrWxVs{fMNyOw}ugJXhi -86.j@lrWxVs{fMNyOw}ugJXhi -41""".replace(".", "\n")
